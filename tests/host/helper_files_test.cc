#include "host/process/helper_files.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace caip::host {
namespace {

TEST(HelperFiles, AreBesideTheProgramOrInLibexecOfItsPrefix) {
  const TemporaryDirectory prefix;
  const Path program = prefix.path() / "bin" / "caip";
  const Path beside = prefix.path() / "bin" / "caip-launcher";
  const Path installed = prefix.path() / "libexec" / "caip" / "caip-launcher";
  EXPECT_EQ(HelperOf(program, "caip-launcher"), beside) << "where a build puts it";
  ASSERT_TRUE(MakeDirectories(installed.parent_path()).ok());
  ASSERT_TRUE(WriteFile(installed, "").ok());
  EXPECT_EQ(HelperOf(program, "caip-launcher"), installed);
  ASSERT_TRUE(MakeDirectories(beside.parent_path()).ok());
  ASSERT_TRUE(WriteFile(beside, "").ok());
  EXPECT_EQ(HelperOf(program, "caip-launcher"), beside);
}

TEST(HelperFiles, OfThisTestAreInItsBuildFolder) {
  std::error_code error;
  EXPECT_TRUE(std::filesystem::exists(HelperFile("caip-launcher"), error));
}

}  // namespace
}  // namespace caip::host
