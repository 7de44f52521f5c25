// Runs the inputs of a corpus one after the other, in builds without a fuzzer.

#include <cstdint>
#include <cstdio>
#include <filesystem>

#include "base/files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int main(int count, char** directories) {
  int tried = 0;
  for (int i = 1; i < count; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(directories[i])) {
      const auto input = caip::ReadFile(entry.path());
      if (!input.ok()) return std::fprintf(stderr, "%s\n", input.error().message.c_str()), 1;
      std::printf("%s\n", entry.path().c_str());
      std::fflush(stdout);  // the last printed name is the input that crashed
      LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input->data()), input->size());
      ++tried;
    }
  }
  if (tried == 0) return std::fprintf(stderr, "the corpus is empty\n"), 1;
  return 0;
}
