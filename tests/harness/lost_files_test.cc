// What a failure of the power leaves of files.

#include "harness/files/lost_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace caip::harness {
namespace {

using ::testing::ElementsAre;
using Did = FileChange::Kind;

/// A log in the words of a program, and what is left of its files: "name=digit" for each name,
/// where the digit is the size.
class LostFilesTest : public ::testing::Test {
 protected:
  void Create(const std::string& name) {
    FileChange make{.kind = Did::kMake, .name = name, .number = log.NextNumber()};
    log.Add(std::move(make));
  }
  void Write(const std::string& name, uint64_t size) {
    FileChange write{.kind = Did::kContents, .number = log.now().NumberOf(name)};
    write.node.size = size;
    write.node.blocks = {ZeroBlock(size)};
    write.count = size;
    log.Add(std::move(write));
  }
  void Truncate(const std::string& name) {
    log.Add({.kind = Did::kSize, .number = log.now().NumberOf(name)});
  }
  void Rename(const std::string& from, const std::string& to) {
    log.Add({.kind = Did::kRename, .name = from, .other = to});
  }
  void Delete(const std::string& name) { log.Add({.kind = Did::kDelete, .name = name}); }
  void Sync(const std::string& name) {
    log.Add({.kind = Did::kSync, .number = log.now().NumberOf(name)});
  }
  void SyncAll() { log.Add({.kind = Did::kSync}); }

  std::vector<std::string> Left(PowerLoss lost) const {
    const FileTree tree = AfterPowerLoss(log, log.changes().size(), lost);
    std::vector<std::string> left;
    for (const auto& [name, number] : tree.names()) {
      left.push_back(name + "=" + std::to_string(tree.Find(number)->size));
    }
    return left;
  }

  FileLog log;
};

TEST_F(LostFilesTest, ARenameWithoutASyncLeavesAnEmptyFile) {
  Create("new");
  Write("new", 5);
  Rename("new", "state");
  EXPECT_THAT(Left(PowerLoss::kContents), ElementsAre("state=0"));
  EXPECT_THAT(Left(PowerLoss::kNewestContents), ElementsAre("state=0"));
  EXPECT_THAT(Left(PowerLoss::kOlderContents), ElementsAre("state=5"));
  EXPECT_THAT(Left(PowerLoss::kNames), ElementsAre());
}

TEST_F(LostFilesTest, ASyncKeepsTheContentsOfItsFileAndAllEarlierNames) {
  Create("a");
  Write("a", 1);
  Create("b");
  Write("b", 2);
  Sync("b");
  Write("b", 7);
  Rename("b", "c");
  EXPECT_THAT(Left(PowerLoss::kContents), ElementsAre("a=0", "c=2"));
  EXPECT_THAT(Left(PowerLoss::kNames), ElementsAre("a=1", "b=7"));
  SyncAll();
  for (const PowerLoss lost : kPowerLosses) EXPECT_THAT(Left(lost), ElementsAre("a=1", "c=7"));
}

TEST_F(LostFilesTest, ContentsReachTheDiskInBothOrders) {
  Create("weights");
  Write("weights", 3);
  Create("optimizer");
  Write("optimizer", 4);
  EXPECT_THAT(Left(PowerLoss::kOlderContents), ElementsAre("optimizer=4", "weights=0"));
  EXPECT_THAT(Left(PowerLoss::kNewestContents), ElementsAre("optimizer=0", "weights=3"));
}

TEST_F(LostFilesTest, BytesInAFileThatStaysMayComeBeforeEarlierNames) {
  Create("latest");
  Write("latest", 1);
  Create("ckpt-1");
  SyncAll();
  Rename("ckpt-1", "ckpt-2");
  Write("latest", 2);
  EXPECT_THAT(Left(PowerLoss::kNames), ElementsAre("ckpt-1=0", "latest=2"));
  EXPECT_THAT(Left(PowerLoss::kContents), ElementsAre("ckpt-2=0", "latest=1"));
}

TEST_F(LostFilesTest, WhatFollowsALostTruncationIsLostToo) {
  Create("state");
  Write("state", 5);
  SyncAll();
  Truncate("state");
  Write("state", 2);
  EXPECT_THAT(Left(PowerLoss::kNames), ElementsAre("state=5"));
  EXPECT_THAT(Left(PowerLoss::kContents), ElementsAre("state=0"));
}

TEST_F(LostFilesTest, ModesAreLostWithNames) {
  Create("state");
  Write("state", 5);
  SyncAll();
  FileChange mode{.kind = Did::kAttributes, .number = log.now().NumberOf("state")};
  mode.node.mode = 0400;
  log.Add(mode);
  const auto mode_after = [&](PowerLoss lost) {
    return AfterPowerLoss(log, log.changes().size(), lost).Find("state")->mode;
  };
  EXPECT_EQ(mode_after(PowerLoss::kNames), 0644u);
  EXPECT_EQ(mode_after(PowerLoss::kContents), 0400u);
}

TEST_F(LostFilesTest, TheSyncOfADirectoryKeepsNamesOnly) {
  Create("state");
  Write("state", 5);
  log.Add({.kind = Did::kSync, .number = kNoFile});
  EXPECT_THAT(Left(PowerLoss::kNames), ElementsAre("state=5"));
  EXPECT_THAT(Left(PowerLoss::kContents), ElementsAre("state=0"));
}

TEST_F(LostFilesTest, ADeletionMayBeUndone) {
  Create("old");
  Write("old", 3);
  SyncAll();
  Delete("old");
  EXPECT_THAT(Left(PowerLoss::kNames), ElementsAre("old=3"));
  EXPECT_THAT(Left(PowerLoss::kContents), ElementsAre());
}

TEST(PowerLosses, HaveNames) {
  for (const PowerLoss lost : kPowerLosses) EXPECT_EQ(FindPowerLoss(Name(lost)), lost);
  EXPECT_EQ(FindPowerLoss("everything"), std::nullopt);
}

}  // namespace
}  // namespace caip::harness
