// The log of changes of files, and the files at any moment of a run.

#include "harness/files/file_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace caip::harness {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;
using Did = FileChange::Kind;

/// A log that is written in the words of operations.
class FileLogTest : public ::testing::Test {
 protected:
  FileLogTest() {
    auto store = BlockStore::Make(directory.path(), 1 << 20);
    if (store.ok()) blocks.emplace(*std::move(store));
  }

  FileChange Named(Did kind, const std::string& op, const std::string& name) {
    FileChange change{.kind = kind, .name = name};
    change.replica = "master-0";
    change.op = op;
    change.object = name;
    change.nth = log.CountEvent("master-0", {.op = op, .object = name});
    change.acts = acts;
    return change;
  }
  void Make(const std::string& name, FileNode::Kind kind) {
    FileChange make = Named(Did::kMake, "mkdir", name);
    make.number = log.NextNumber();
    make.node.kind = kind;
    log.Add(std::move(make));
    ++acts;
  }
  /// A file that is written in pieces and closed.
  void Save(const std::string& name, const std::vector<std::string>& pieces) {
    FileChange make = Named(Did::kMake, "create", name);
    const int64_t nth = make.nth;
    make.number = log.NextNumber();
    make.mid = 0;
    log.Add(make);
    std::string text;
    for (const std::string& piece : pieces) {
      FileChange write{.kind = Did::kContents, .number = make.number};
      write.begin = text.size();
      write.count = piece.size();
      text += piece;
      write.node.size = text.size();
      write.node.blocks = {*blocks->Put(text)};
      Label(write, name, nth);
      write.mid = text.size();
      log.Add(std::move(write));
    }
    FileChange close;
    Label(close, name, nth);
    log.Add(std::move(close));
    ++acts;
  }
  void Label(FileChange& change, const std::string& name, int64_t nth) const {
    change.replica = "master-0";
    change.op = "create";
    change.object = name;
    change.nth = nth;
    change.acts = acts;
  }
  void Rename(const std::string& from, const std::string& to) {
    FileChange change = Named(Did::kRename, "rename", from);
    change.other = to;
    log.Add(std::move(change));
    ++acts;
  }
  void Delete(const std::string& name) {
    log.Add(Named(Did::kDelete, "delete", name));
    ++acts;
  }

  /// Belongs to no event.
  void SetAttributes(const std::string& name, FileNode node) {
    FileChange change{.kind = Did::kAttributes, .name = name, .number = log.now().NumberOf(name)};
    change.node = std::move(node);
    change.acts = acts;
    log.Add(std::move(change));
  }

  std::vector<std::string> NamesAt(size_t changes) {
    const auto tree = log.TreeAt({changes}, *blocks);
    std::vector<std::string> names;
    for (const auto& [name, number] : tree->names()) names.push_back(name);
    return names;
  }
  std::string TextAt(const FileCut& cut, const std::string& name) {
    const auto tree = log.TreeAt(cut, *blocks);
    const FileNodePtr node = tree->Find(name);
    if (!node) return "(missing)";
    std::string text;
    for (size_t i = 0; i < node->blocks.size(); ++i) text += *blocks->Read(node->blocks[i]);
    return text;
  }
  CrashPoint Point(const std::string& op, const std::string& name, int64_t nth = 1) const {
    return {.replica = "master-0", .op = op, .text = name, .nth = nth};
  }
  CrashPoint Middle(const std::string& name, uint64_t bytes, int64_t nth = 1) const {
    CrashPoint point = Point("create", name, nth);
    point.before = true;
    point.mid = bytes;
    return point;
  }

  TemporaryDirectory directory;
  std::optional<BlockStore> blocks;
  FileLog log;
  size_t acts = 0;
};

TEST_F(FileLogTest, HasTheNamesOfEachMoment) {
  Make("/v/a", FileNode::Kind::kDirectory);
  Save("/v/a/x", {"1"});
  Rename("/v/a", "/v/b");
  Delete("/v/b/x");
  EXPECT_THAT(NamesAt(0), ElementsAre());
  EXPECT_THAT(NamesAt(1), ElementsAre("/v/a"));
  EXPECT_THAT(NamesAt(4), ElementsAre("/v/a", "/v/a/x"));
  EXPECT_THAT(NamesAt(5), ElementsAre("/v/b", "/v/b/x"));
  EXPECT_THAT(NamesAt(6), ElementsAre("/v/b"));
}

TEST_F(FileLogTest, KeepsTheFilesBeforeTheRun) {
  FileTree first;
  first.Add("/v/train.py", 1, {});
  first.Add("/v/a-helper.py", 2, {});
  first.Add("/v/a.py", 3, {});
  log = FileLog(first);
  Make("/v/a", FileNode::Kind::kDirectory);
  Save("/v/a/x", {"1"});
  Delete("/v/a");
  EXPECT_THAT(NamesAt(4),
              UnorderedElementsAre("/v/a", "/v/a/x", "/v/train.py", "/v/a-helper.py", "/v/a.py"));
  EXPECT_THAT(NamesAt(5), UnorderedElementsAre("/v/train.py", "/v/a-helper.py", "/v/a.py"));
}

TEST_F(FileLogTest, FindsTheMomentsOfAFileThatIsWritten) {
  Save("/v/x", {"abcd", "efgh"});
  CrashPoint before = Point("create", "/v/x");
  before.before = true;
  EXPECT_EQ(TextAt(log.CutAt(before, 0), "/v/x"), "(missing)");
  EXPECT_EQ(TextAt(log.CutAt(Middle("/v/x", 0), 0), "/v/x"), "");
  EXPECT_EQ(TextAt(log.CutAt(Middle("/v/x", 2), 0), "/v/x"), "ab");
  EXPECT_EQ(TextAt(log.CutAt(Middle("/v/x", 4), 0), "/v/x"), "abcd");
  EXPECT_EQ(TextAt(log.CutAt(Middle("/v/x", 7), 0), "/v/x"), "abcdefg");
  EXPECT_EQ(TextAt(log.CutAt(Point("create", "/v/x"), 0), "/v/x"), "abcdefgh");
}

TEST_F(FileLogTest, KnowsWhatHasBegunAndNotEnded) {
  Save("/v/x", {"abcd", "efgh"});
  const auto begun = [&](const FileCut& cut) {
    std::vector<std::string> words;
    for (const BegunOperation& one : log.BegunAt(cut)) {
      words.push_back(one.replica + " " + one.op + " " + one.object + " " +
                      std::to_string(one.bytes));
    }
    return words;
  };
  EXPECT_THAT(begun({0}), ElementsAre());
  EXPECT_THAT(begun({1}), ElementsAre("master-0 create /v/x 0"));
  EXPECT_THAT(begun({1, 2}), ElementsAre("master-0 create /v/x 2"));
  EXPECT_THAT(begun({3}), ElementsAre("master-0 create /v/x 8"));
  EXPECT_THAT(begun({4}), ElementsAre());
}

TEST_F(FileLogTest, CountsOnlyFilesThatBecameSoLong) {
  Save("/v/x", {"ab"});
  Delete("/v/x");
  Save("/v/x", {"abcdef"});
  EXPECT_EQ(TextAt(log.CutAt(Middle("/v/x", 4, 1), 0), "/v/x"), "abcd");
  EXPECT_EQ(TextAt(log.CutAt(Middle("/v/x", 1, 2), 0), "/v/x"), "a");
  EXPECT_EQ(TextAt(log.CutAt(Point("create", "/v/x", 2), 0), "/v/x"), "abcdef");
}

TEST_F(FileLogTest, GoesOnCountingAfterAnEarlierPart) {
  Event earlier{.replica = "master-0"};
  earlier.body = StorageEvent{.op = "create", .object = "/v/x", .bytes = 3};
  log.CountEarlier({earlier});
  Save("/v/x", {"abcdef"});
  EXPECT_EQ(TextAt(log.CutAt(Point("create", "/v/x", 2), 0), "/v/x"), "abcdef");
  EXPECT_EQ(TextAt(log.CutAt(Middle("/v/x", 2, 2), 0), "/v/x"), "ab");
  EXPECT_EQ(TextAt(log.CutAt(Middle("/v/x", 5, 1), 0), "/v/x"), "abcde");
}

TEST_F(FileLogTest, CountsRenamesThatLeadToANameAsTriggersDo) {
  EXPECT_EQ(log.CountEvent("master-0", {.op = "rename", .object = "/v/new", .from = "/v/x"}), 1);
  EXPECT_EQ(log.CountEvent("master-0", {.op = "rename", .object = "/v/x", .from = "/v/y"}), 2);
}

TEST_F(FileLogTest, FindsOtherPointsByTheActsBefore) {
  Save("/v/x", {"1"});
  Rename("/v/x", "/v/y");
  const CrashPoint step{.replica = "master-0", .kind = CrashPoint::Kind::kStep, .step = 1};
  EXPECT_EQ(TextAt(log.CutAt(step, 0), "/v/x"), "(missing)");
  EXPECT_EQ(TextAt(log.CutAt(step, 1), "/v/x"), "1");
  EXPECT_EQ(TextAt(log.CutAt(step, 2), "/v/y"), "1");
}

TEST_F(FileLogTest, HasEqualKeysForEqualFilesOnly) {
  Save("/v/x", {"1"});
  Save("/v/y", {"2"});
  Delete("/v/y");
  EXPECT_EQ(log.KeyAt({3}), log.KeyAt({7}));
  EXPECT_EQ(log.KeyAt({2}), log.KeyAt({3}));
  EXPECT_NE(log.KeyAt({2}), log.KeyAt({1}));
  EXPECT_NE(log.KeyAt({6}), log.KeyAt({7}));
  EXPECT_NE(log.KeyAt({1, 1}), log.KeyAt({1}));
}

TEST_F(FileLogTest, HasTheModesOfEachMoment) {
  Save("/v/x", {"1"});
  SetAttributes("/v/x", {.mode = 0400});
  Save("/v/y", {"2"});
  const auto mode_at = [&](const FileCut& cut) {
    return log.TreeAt(cut, *blocks)->Find("/v/x")->mode;
  };
  CrashPoint before = Point("create", "/v/y");
  before.before = true;
  EXPECT_EQ(mode_at(log.CutAt(Point("create", "/v/x"), 0)), 0644u);
  EXPECT_EQ(mode_at(log.CutAt(before, 0)), 0400u);
  EXPECT_EQ(mode_at(log.CutAt(Point("create", "/v/y"), 0)), 0400u);
  EXPECT_NE(log.KeyAt(log.CutAt(before, 0)), log.KeyAt(log.CutAt(Point("create", "/v/x"), 0)));
}

// An object of a bucket over HTTP is not a file.
TEST_F(FileLogTest, HasTheModesThatWereSetBeforeAnEventWithoutAFile) {
  Save("/v/x", {"1"});
  SetAttributes("/v/x", {.mode = 0400});
  ++acts;
  SetAttributes("/v/x", {.mode = 0600});
  const auto mode_at = [&](const FileCut& cut) {
    return log.TreeAt(cut, *blocks)->Find("/v/x")->mode;
  };
  CrashPoint request = Point("create", "bucket/object");
  EXPECT_EQ(mode_at(log.CutAt(request, 2)), 0400u);
  request.before = true;
  EXPECT_EQ(mode_at(log.CutAt(request, 1)), 0400u);
}

TEST_F(FileLogTest, TellsFilesApartByTheTimesThatProgramsChose) {
  Save("/v/x", {"1"});
  const size_t saved = log.changes().size();
  SetAttributes("/v/x", {.modified_ns = 5});
  SetAttributes("/v/x", {.modified_ns = 6, .has_set_time = true});
  SetAttributes("/v/x", {.modified_ns = 7, .has_set_time = true});
  EXPECT_EQ(log.now().Find("/v/x")->modified_ns, 7);
  EXPECT_EQ(log.KeyAt({saved}), log.KeyAt({saved + 1}));
  EXPECT_NE(log.KeyAt({saved + 1}), log.KeyAt({saved + 2}));
  EXPECT_NE(log.KeyAt({saved + 2}), log.KeyAt({saved + 3}));
  FileChange write{.kind = Did::kContents, .number = log.now().NumberOf("/v/x")};
  write.node.size = 1;
  write.node.blocks = {*blocks->Put("1")};
  log.Add(write);
  EXPECT_EQ(log.KeyAt({saved}), log.KeyAt({saved + 4})) << "the time is that of the write again";
}

TEST_F(FileLogTest, GivesDirectoriesTheTimesOfTheirNewNames) {
  Make("/v/a", FileNode::Kind::kDirectory);
  Make("/v/b", FileNode::Kind::kDirectory);
  const uint64_t key = log.now().Key();
  Save("/v/a/x", {"1"});
  FileChange rename{.kind = Did::kRename, .name = "/v/a/x", .other = "/v/b/x"};
  rename.directories_ns = 5;
  log.Add(rename);
  EXPECT_EQ(log.now().Find("/v/a")->modified_ns, 5);
  EXPECT_EQ(log.now().Find("/v/b")->modified_ns, 5);
  FileChange gone{.kind = Did::kDelete, .name = "/v/b/x"};
  gone.directories_ns = 6;
  log.Add(gone);
  EXPECT_EQ(log.now().Find("/v/a")->modified_ns, 5);
  EXPECT_EQ(log.now().Find("/v/b")->modified_ns, 6);
  EXPECT_EQ(log.now().Key(), key);
}

TEST_F(FileLogTest, GivesTwoNamesOfAFileOneContent) {
  Save("/v/x", {"1"});
  FileChange link = Named(Did::kLink, "link", "/v/y");
  link.number = log.now().NumberOf("/v/x");
  log.Add(link);
  FileChange write{.kind = Did::kContents, .number = link.number};
  write.node.size = 3;
  write.count = 3;
  write.node.blocks = {*blocks->Put("new")};
  log.Add(write);
  EXPECT_EQ(TextAt({4}, "/v/y"), "1");
  EXPECT_EQ(TextAt({5}, "/v/x"), "new");
  EXPECT_EQ(TextAt({5}, "/v/y"), "new");
}

TEST_F(FileLogTest, NumbersNewFilesAfterThoseOfAnEarlierRun) {
  Save("/v/x", {"1"});
  FileLog next(log.now());
  EXPECT_GT(next.NextNumber(), log.now().NumberOf("/v/x"));
}

TEST_F(FileLogTest, KeepsNoMoreThanItsStoreTakes) {
  auto small = BlockStore::Make(directory.path(), 3);
  ASSERT_TRUE(small.ok());
  EXPECT_TRUE(small->Put("abc").ok());
  const auto more = small->Put("d");
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.error().code, Code::kResourceExhausted);
}

}  // namespace
}  // namespace caip::harness
