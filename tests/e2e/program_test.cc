// The program itself, before it does any work.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include "base/text.h"
#include "tests/support/caip_command.h"

namespace caip::testing {
namespace {

using ::testing::IsSupersetOf;

// The names of the shared libraries that the dynamic linker loads for the command: "libc".
std::vector<std::string> LoadedLibraries(CaipCommand& caip) {
  caip.Set("LD_TRACE_LOADED_OBJECTS", "1");
  std::vector<std::string> names;
  for (const std::string& line : Split(caip.Run({"--version"}).out, '\n')) {
    std::string name;
    if (RE2::PartialMatch(line, R"(\b(lib[^./]+)\.so)", &name)) names.push_back(name);
  }
  return names;
}

// Each further library costs each command a fraction of a millisecond
// (docs/adr/0022-programs-load-few-libraries.md).
TEST(Program, LoadsOnlyTheCLibraryAndIsal) {
#ifndef CAIP_LINKS_ARCHIVES
  GTEST_SKIP() << "CAIP_STATIC is off, or the distribution has no archives";
#endif
  CaipCommand caip;
  const auto loaded = LoadedLibraries(caip);
  EXPECT_THAT(loaded, ::testing::Contains("libc"));
  EXPECT_THAT((std::vector<std::string>{"libc", "libm", "libisal"}), IsSupersetOf(loaded));
}

}  // namespace
}  // namespace caip::testing
