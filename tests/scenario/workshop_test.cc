// The folders in which scenarios run.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "emulator/scenario/run_scenario.h"

namespace caip::scenario {
namespace {

using ::testing::IsEmpty;

std::vector<Path> FoldersOf(const TemporaryDirectory& state) {
  const std::filesystem::directory_iterator folders(state.path() / "scenarios");
  return {begin(folders), end(folders)};
}

TEST(Workshop, HasAFolderOfItsOwnUntilItEnds) {
  const TemporaryDirectory state;
  {
    auto first = Workshop::Open(state.path());
    auto second = Workshop::Open(state.path());
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_NE((*first)->path(), (*second)->path());
    second->reset();
    ASSERT_TRUE(WriteFile((*first)->path() / "file", "").ok());
    EXPECT_EQ(FoldersOf(state), std::vector<Path>{(*first)->path()});
  }
  EXPECT_THAT(FoldersOf(state), IsEmpty());
}

TEST(Workshop, RemovesWhatAKilledCommandHasLeft) {
  const TemporaryDirectory state;
  const std::string name = "p-" + std::to_string(::getpid()) + ".abcdef";
  ASSERT_TRUE(MakeDirectories(state.path() / "scenarios" / name / "run-1").ok());
  const auto opened = Workshop::Open(state.path());
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(FoldersOf(state), std::vector<Path>{(*opened)->path()});
}

// Commands in containers often have the same process ID.
TEST(Workshop, KeepsItsFolderWhateverTheNextOneDoes) {
  const TemporaryDirectory state;
  Path kept;
  {
    const auto opened = Workshop::Open(state.path(), /*keeps=*/true);
    ASSERT_TRUE(opened.ok());
    kept = (*opened)->path();
    ASSERT_TRUE(WriteFile(kept / "file", "").ok());
  }
  for (const bool keeps : {false, true}) {
    const auto opened = Workshop::Open(state.path(), keeps);
    ASSERT_TRUE(opened.ok());
    EXPECT_NE((*opened)->path(), kept);
  }
  EXPECT_TRUE(std::filesystem::exists(kept / "file"));
}

}  // namespace
}  // namespace caip::scenario
