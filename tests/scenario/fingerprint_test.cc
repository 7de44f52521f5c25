#include "emulator/explore/fingerprint.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

namespace caip::explore {
namespace {

/// A scenario whose command starts a program in the trainer's folder.
class FingerprintTest : public testing::Test {
 protected:
  FingerprintTest() {
    scenario_.file = scratch_.path() / "job.yaml";
    scenario_.trainer_folder = folder_;
    scenario_.command = {"python3", "./train.py"};
    Write("train.py", "import cfg");
    Write("a/cfg", "rate: 1");
    Write("b/other", "text");
  }
  void Write(const Path& file, const std::string& text) {
    EXPECT_TRUE(MakeDirectories((folder_ / file).parent_path()).ok());
    EXPECT_TRUE(WriteFile(folder_ / file, text).ok());
  }
  std::string Now() const { return Fingerprint(scenario_, {folder_ / "out"}); }

  TemporaryDirectory scratch_;
  const Path folder_ = scratch_.path() / "trainer";
  harness::Scenario scenario_;
};

TEST_F(FingerprintTest, StaysWhileNothingChanges) {
  const std::string before = Now();
  Write("out/findings.json", "{}");
  Write("__pycache__/cfg.pyc", "x");
  EXPECT_EQ(Now(), before);
}

TEST_F(FingerprintTest, ChangesWithTheBytesOfAFile) {
  const std::string before = Now();
  Write("a/cfg", "rate: 2");
  EXPECT_NE(Now(), before);
}

TEST_F(FingerprintTest, ChangesWhenAFileMovesToAnotherDirectory) {
  const std::string before = Now();
  std::filesystem::rename(folder_ / "a/cfg", folder_ / "b/cfg");
  EXPECT_NE(Now(), before);
}

TEST_F(FingerprintTest, ChangesWhenAnObjectOfABucketGetsAnotherName) {
  Write("data/a/x", "1");
  scenario_.command = {"python3"};
  scenario_.buckets["data"].from = folder_ / "data";
  const std::string before = Now();
  std::filesystem::rename(folder_ / "data/a", folder_ / "data/b");
  EXPECT_NE(Now(), before);
}

TEST_F(FingerprintTest, ChangesWhenAFileBecomesExecutable) {
  ASSERT_EQ(::chmod((folder_ / "b/other").c_str(), 0644), 0);
  const std::string before = Now();
  ASSERT_EQ(::chmod((folder_ / "b/other").c_str(), 0600), 0);
  EXPECT_EQ(Now(), before) << "it runs as before";
  ASSERT_EQ(::chmod((folder_ / "b/other").c_str(), 0755), 0);
  EXPECT_NE(Now(), before);
}

TEST_F(FingerprintTest, StaysWhenTheFolderIsElsewhere) {
  const std::string before = Now();
  const Path moved = scratch_.path() / "moved";
  std::filesystem::rename(folder_, moved);
  scenario_.trainer_folder = moved;
  EXPECT_EQ(Now(), before);
}

}  // namespace
}  // namespace caip::explore
