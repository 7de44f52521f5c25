// The build passes the file as CAIP_DESCRIPTOR_SET (module.cmake). The assembler includes it,
// because a compiler needs seconds for an array of this size.
#include "grpc/descriptors.h"

asm(".section .rodata\n"
    ".global caip_descriptor_set_begin\n"
    ".global caip_descriptor_set_end\n"
    "caip_descriptor_set_begin:\n"
    ".incbin \"" CAIP_DESCRIPTOR_SET
    "\"\n"
    "caip_descriptor_set_end:\n"
    ".byte 0\n"
    ".text\n");

extern "C" const char caip_descriptor_set_begin[];
extern "C" const char caip_descriptor_set_end[];

namespace caip::grpc {

std::string_view DescriptorSet() {
  return {caip_descriptor_set_begin,
          static_cast<size_t>(caip_descriptor_set_end - caip_descriptor_set_begin)};
}

}  // namespace caip::grpc
