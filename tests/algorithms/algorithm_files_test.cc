// The Python package of the built-in algorithms as it is compiled in, and as it is written.

#include "fakes/algorithms/algorithm_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace caip::algorithms {
namespace {

TEST(AlgorithmFiles, AreAllPythonFilesOfTheFolder) {
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(CAIP_ALGORITHMS)) {
    if (entry.path().extension() != ".py") continue;
    ++files;
    const std::string name = entry.path().filename();
    const auto& all = PackageFiles();
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const PackageFile& file) { return file.name == name; });
    ASSERT_NE(found, all.end()) << name;
    EXPECT_EQ(found->text, ReadFile(entry.path()).value()) << name;
  }
  EXPECT_EQ(files, PackageFiles().size());
}

TEST(AlgorithmFiles, AreWrittenOnceAndCompletedWhereAWriteWasInterrupted) {
  const TemporaryDirectory state;
  const auto program = InstallPackage(state.path());
  ASSERT_TRUE(program.ok()) << program.error().message;
  const Path file = program->parent_path() / "caip_algorithms" / "arguments.py";
  const auto written = std::filesystem::last_write_time(file);
  EXPECT_EQ(InstallPackage(state.path()).value(), *program);
  EXPECT_EQ(std::filesystem::last_write_time(file), written);
  std::filesystem::remove(file);
  std::filesystem::remove(*program);  // the last file of an installation
  EXPECT_EQ(InstallPackage(state.path()).value(), *program);
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST(AlgorithmFiles, CannotBeWrittenBelowAFile) {
  const TemporaryDirectory state;
  ASSERT_TRUE(WriteFile(state.path() / "algorithms", "").ok());
  EXPECT_FALSE(InstallPackage(state.path()).ok());
}

}  // namespace
}  // namespace caip::algorithms
