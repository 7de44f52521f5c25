#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/watch/watched_call.h"
#include "places.h"

namespace caip::host {
namespace {

struct Waiting final : AnswerPath {
  bool waits = true;
  bool IsWaiting() const override { return waits; }
  void GoOn() const override {}
  void Return(int64_t, int) const override {}
  int ReturnDescriptor(int, bool) const override { return 0; }
  void FailClose(int, int) const override {}
};

/// Calls of this very thread, on files of a directory.
class FileSights : public ::testing::Test {
 protected:
  FileSights() : root_(std::filesystem::canonical(folder_.path())) {
    EXPECT_TRUE(WriteFile(root_ / "there", "bytes").ok());
    EXPECT_TRUE(MakeDirectories(root_ / "sub").ok());
  }

  std::optional<FileAccess> See(int number, std::vector<uint64_t> arguments) {
    CallFacts facts{number, static_cast<pid_t>(::syscall(SYS_gettid)), {}};
    for (size_t i = 0; i < arguments.size(); ++i) facts.arguments[i] = arguments[i];
    return ParseFileAccess(WatchedCall(facts, path_), ReplicaRoot());
  }
  std::optional<FileAccess> Open(const std::string& path, int flags, int directory = AT_FDCWD) {
    return See(SYS_openat, {Number(directory), Number(path), Number(flags)});
  }
  std::string At(const std::string& name) const { return (root_ / name).string(); }

  static uint64_t Number(int value) { return static_cast<uint64_t>(static_cast<int64_t>(value)); }
  static uint64_t Number(const std::string& text) {
    return reinterpret_cast<uint64_t>(text.c_str());
  }

  TemporaryDirectory folder_;
  Path root_;
  Waiting path_;
};

TEST_F(FileSights, AFileThatIsThereIsReadOrWritten) {
  struct Row {
    int flags;
    FileAccess::Kind kind;
    bool reads_too;
  };
  for (const Row& row :
       {Row{O_RDONLY, FileAccess::Kind::kRead, false},
        Row{O_WRONLY, FileAccess::Kind::kWrite, false}, Row{O_RDWR, FileAccess::Kind::kWrite, true},
        Row{O_RDWR | O_TRUNC, FileAccess::Kind::kWrite, false},
        Row{O_RDONLY | O_TRUNC, FileAccess::Kind::kWrite, false},
        Row{O_WRONLY | O_APPEND, FileAccess::Kind::kWrite, false}}) {
    const auto access = Open(At("there"), row.flags);
    ASSERT_TRUE(access) << row.flags;
    EXPECT_EQ(access->kind, row.kind) << row.flags;
    EXPECT_EQ(access->reads_too, row.reads_too) << row.flags;
    EXPECT_EQ(access->path, At("there"));
    EXPECT_TRUE(access->is_there);
  }
}

TEST_F(FileSights, AFileThatIsNotThereIsSeenWhenItIsMade) {
  EXPECT_FALSE(Open(At("new"), O_RDONLY));
  EXPECT_FALSE(Open(At("new"), O_WRONLY)) << "this fails, and nothing comes of it";
  const auto made = Open(At("new"), O_RDWR | O_CREAT);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->kind, FileAccess::Kind::kWrite);
  EXPECT_FALSE(made->is_there);
  EXPECT_FALSE(made->reads_too);
  EXPECT_FALSE(Open(At("nowhere/new"), O_WRONLY | O_CREAT)) << "its directory does not exist";
}

TEST_F(FileSights, DirectoriesAndWhatLeavesNoFileAreNotSeen) {
  EXPECT_FALSE(Open(At("sub"), O_RDONLY));
  EXPECT_FALSE(Open(At("sub"), O_RDONLY | O_DIRECTORY));
  EXPECT_FALSE(Open(At("sub"), O_RDWR | O_TMPFILE));
  EXPECT_FALSE(Open(At("there"), O_PATH));
  EXPECT_FALSE(Open("/proc/self/status", O_RDONLY)) << "ours, not theirs";
  EXPECT_FALSE(Open("/dev/null", O_WRONLY));
  EXPECT_FALSE(See(SYS_close, {0}));
}

TEST_F(FileSights, ASlashAtTheEndOfAPathIsThatOfADirectory) {
  const std::string there = At("there/"), sub = At("sub/"), to = At("new/");
  EXPECT_FALSE(Open(there, O_RDONLY));
  EXPECT_FALSE(Open(to, O_WRONLY | O_CREAT));
  EXPECT_FALSE(Open(to, O_WRONLY | O_CREAT | O_EXCL));
  EXPECT_FALSE(See(SYS_unlinkat, {Number(AT_FDCWD), Number(there), 0}));
  const auto removed = See(SYS_unlinkat, {Number(AT_FDCWD), Number(sub), AT_REMOVEDIR});
  ASSERT_TRUE(removed);
  EXPECT_EQ(removed->path, At("sub"));
  const auto renamed =
      See(SYS_renameat2, {Number(AT_FDCWD), Number(sub), Number(AT_FDCWD), Number(to), 0});
  ASSERT_TRUE(renamed);
  EXPECT_EQ(renamed->path + " to " + renamed->target, At("sub") + " to " + At("new"));
}

TEST_F(FileSights, APathIsSeenFromWhereItBegins) {
  const Fd directory(::open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const auto access = Open("sub/../there", O_RDONLY, directory.get());
  ASSERT_TRUE(access);
  EXPECT_EQ(access->path, At("there"));
}

TEST_F(FileSights, ALinkIsSeenAsWhatItNames) {
  std::filesystem::create_symlink("there", root_ / "link");
  EXPECT_EQ(Open(At("link"), O_RDONLY)->path, At("there"));
}

TEST_F(FileSights, ANewFileIsSeenUnderTheNameToWhichALinkLeads) {
  std::filesystem::create_symlink("sub/new", root_ / "link");
  std::filesystem::create_symlink(root_ / "link", root_ / "second");
  EXPECT_EQ(Open(At("second"), O_WRONLY | O_CREAT)->path, At("sub/new"));
  EXPECT_EQ(Open(At("link"), O_WRONLY | O_CREAT | O_EXCL)->path, At("link")) << "this fails";
  std::filesystem::create_symlink("round", root_ / "round");
  EXPECT_FALSE(Open(At("round"), O_WRONLY | O_CREAT));
}

TEST_F(FileSights, ARenameSaysWhetherItReplaces) {
  for (const auto& [target, is_there] : {std::pair{"new", false}, std::pair{"other", true}}) {
    ASSERT_TRUE(WriteFile(root_ / "other", "").ok());
    const std::string from = At("there"), to = At(target);
    const auto access =
        See(SYS_renameat2, {Number(AT_FDCWD), Number(from), Number(AT_FDCWD), Number(to), 0});
    ASSERT_TRUE(access) << target;
    EXPECT_EQ(access->kind, FileAccess::Kind::kRename);
    EXPECT_EQ(access->path, from);
    EXPECT_EQ(access->target, to);
    EXPECT_EQ(access->is_there, is_there);
  }
}

TEST_F(FileSights, ADeletionNamesTheLinkNotTheFile) {
  std::filesystem::create_symlink("there", root_ / "link");
  const std::string link = At("link");
  const auto access = See(SYS_unlinkat, {Number(AT_FDCWD), Number(link), 0});
  ASSERT_TRUE(access);
  EXPECT_EQ(access->kind, FileAccess::Kind::kDelete);
  EXPECT_EQ(access->path, link);
}

#ifdef SYS_open
TEST_F(FileSights, TheOldCallsAreTheNewOnes) {
  const std::string there = At("there"), to = At("new");
  EXPECT_EQ(See(SYS_open, {Number(there), O_RDONLY})->kind, FileAccess::Kind::kRead);
  EXPECT_EQ(See(SYS_creat, {Number(to), 0644})->kind, FileAccess::Kind::kWrite);
  EXPECT_EQ(See(SYS_rename, {Number(there), Number(to)})->target, to);
  EXPECT_EQ(See(SYS_unlink, {Number(there)})->kind, FileAccess::Kind::kDelete);
  EXPECT_EQ(See(SYS_rmdir, {Number(there)})->kind, FileAccess::Kind::kDelete);
}
#endif

TEST_F(FileSights, NothingIsSaidOfAThreadThatWasKilled) {
  path_.waits = false;
  EXPECT_FALSE(Open(At("there"), O_RDONLY));
}

}  // namespace
}  // namespace caip::host
