// libcaip-nvml.so as a shared library: what it needs, and the functions that it has.

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "tests/host/fake_nvml_world.h"

namespace caip::host {
namespace {

using ::testing::IsEmpty;
using ::testing::StartsWith;

/// The dynamic part of an ELF file.
struct ElfFacts {
  std::vector<std::string> undefined, functions;
  std::vector<uint32_t> segments;
  int needed = 0;
};

template <typename Struct>
std::vector<Struct> ReadStructs(const std::string& bytes, size_t offset, size_t count) {
  std::vector<Struct> structs(count);
  if (offset + count * sizeof(Struct) > bytes.size()) return {};
  std::memcpy(structs.data(), bytes.data() + offset, count * sizeof(Struct));
  return structs;
}

ElfFacts ReadElf(const std::string& bytes) {
  ElfFacts facts;
  const auto header = ReadStructs<Elf64_Ehdr>(bytes, 0, 1).at(0);
  for (const auto& segment : ReadStructs<Elf64_Phdr>(bytes, header.e_phoff, header.e_phnum)) {
    facts.segments.push_back(segment.p_type);
  }
  const auto sections = ReadStructs<Elf64_Shdr>(bytes, header.e_shoff, header.e_shnum);
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type == SHT_DYNAMIC) {
      for (const auto& entry :
           ReadStructs<Elf64_Dyn>(bytes, section.sh_offset, section.sh_size / sizeof(Elf64_Dyn))) {
        facts.needed += entry.d_tag == DT_NEEDED;
      }
    }
    if (section.sh_type != SHT_DYNSYM) continue;
    const char* names = bytes.data() + sections.at(section.sh_link).sh_offset;
    for (const auto& symbol :
         ReadStructs<Elf64_Sym>(bytes, section.sh_offset, section.sh_size / sizeof(Elf64_Sym))) {
      if (symbol.st_name == 0) continue;
      auto& list = symbol.st_shndx == SHN_UNDEF ? facts.undefined : facts.functions;
      list.emplace_back(names + symbol.st_name);
    }
  }
  return facts;
}

// A library that needs another one does not load in an image with another C library, or without.
TEST_F(FakeNvml, NeedsNoOtherLibrary) {
  const auto bytes = ReadFile(CAIP_NVML);
  ASSERT_TRUE(bytes.ok());
  const ElfFacts facts = ReadElf(*bytes);
  EXPECT_EQ(facts.needed, 0);
  EXPECT_THAT(facts.undefined, IsEmpty());
  EXPECT_THAT(facts.functions, ::testing::Each(StartsWith("nvml")));
  EXPECT_GT(facts.functions.size(), 80u);
  EXPECT_THAT(facts.segments, ::testing::Not(::testing::Contains(PT_TLS)));
}

TEST_F(FakeNvml, AnswersNothingBeforeItIsStarted) {
  Open(kMixedFakes, false);
  const auto bytes = ReadFile(CAIP_NVML);
  ASSERT_TRUE(bytes.ok());
  std::vector<std::string> answered;
  for (const std::string& name : ReadElf(*bytes).functions) {
    if (name.starts_with("nvmlInit") || name == "nvmlErrorString") continue;
    char place[256] = {};
    const int answer =
        name.starts_with("nvmlDeviceGetHandle") || name.starts_with("nvmlSystem")
            ? Call(name.c_str(), static_cast<char*>(place), static_cast<char*>(place))
            : Call(name.c_str(), Handle{}, static_cast<char*>(place), static_cast<char*>(place));
    if (answer != kNvmlUninitialized) answered.push_back(name);
  }
  EXPECT_THAT(answered, IsEmpty());
}

}  // namespace
}  // namespace caip::host
