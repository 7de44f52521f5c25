// Trees of files are removed, whatever a program has left in them.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <functional>

#include "base/files.h"

namespace caip {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;

// The result of a function in a process of an ordinary user.
int AsNobody(const std::function<int()>& function) {
  const pid_t child = ::fork();
  if (child == 0) {
    const bool is_nobody = ::geteuid() != 0 || (::setresgid(kNobody, kNobody, kNobody) == 0 &&
                                                ::setresuid(kNobody, kNobody, kNobody) == 0);
    ::_exit(is_nobody ? function() : 125);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class TreeRemovals : public ::testing::Test {
 protected:
  Path Below(const char* path) const { return directory_.path() / path; }
  void Write(const char* path) const {
    fs::create_directories(Below(path).parent_path());
    ASSERT_TRUE(WriteFile(Below(path), "text").ok());
  }

  TemporaryDirectory directory_;
};

TEST_F(TreeRemovals, TakeWhatAnOrdinaryUserMayNotList) {
  ASSERT_EQ(::chmod(directory_.path().c_str(), 0777), 0);
  EXPECT_EQ(AsNobody([this] {
              Write("tree/closed/inner/file");
              ::chmod(Below("tree/closed/inner").c_str(), 0500);  // nothing may be removed here
              ::chmod(Below("tree/closed").c_str(), 0);
              return RemoveTreeAt(AT_FDCWD, Below("tree")).ok() ? 0 : 1;
            }),
            0);
  EXPECT_FALSE(fs::exists(Below("tree")));
}

TEST_F(TreeRemovals, DoNotFollowLinks) {
  Write("outside/kept");
  fs::create_directories(Below("tree"));
  fs::create_directory_symlink(Below("outside"), Below("tree/link"));
  fs::create_directory_symlink(Below("outside"), Below("link"));
  EXPECT_TRUE(RemoveTreeAt(AT_FDCWD, Below("tree")).ok());
  EXPECT_TRUE(RemoveTreeAt(AT_FDCWD, Below("link")).ok());
  EXPECT_FALSE(fs::exists(fs::symlink_status(Below("link"))));
  EXPECT_TRUE(fs::exists(Below("outside/kept")));
}

TEST_F(TreeRemovals, TakeTreesDeeperThanOpenFilesAndPaths) {
  Write("elsewhere/file");
  Fd at(::open(directory_.path().c_str(), O_RDONLY | O_DIRECTORY));
  const Fd top(::dup(at.get()));
  for (int depth = 0; depth < 1100; ++depth) {
    ASSERT_EQ(::mkdirat(at.get(), "tree", 0755), 0);
    at = Fd(::openat(at.get(), "tree", O_RDONLY | O_DIRECTORY));
    ASSERT_EQ(::symlinkat(Below("elsewhere").c_str(), at.get(), "link"), 0);
  }
  Write("tree/.moved-3/file");  // as a directory that was moved to the top
  const Status removed = RemoveTreeAt(top.get(), "tree");
  EXPECT_TRUE(removed.ok()) << removed.error().message;
  EXPECT_FALSE(fs::exists(Below("tree")));
  EXPECT_TRUE(fs::exists(Below("elsewhere/file"))) << "links are not followed";
}

TEST_F(TreeRemovals, TakeWideTreesWithFilesOfAllKinds) {
  for (int i = 0; i < 200; ++i) {
    const std::string name = "tree/" + std::to_string(i) + "/";
    Write((name + "file").c_str());
    ASSERT_EQ(::mkfifo(Below((name + "fifo").c_str()).c_str(), 0600), 0);
    ASSERT_EQ(
        ::link(Below((name + "file").c_str()).c_str(), Below((name + "second").c_str()).c_str()),
        0);
  }
  EXPECT_TRUE(RemoveTreeAt(AT_FDCWD, Below("tree")).ok());
  EXPECT_TRUE(fs::is_empty(directory_.path()));
}

TEST_F(TreeRemovals, TakeAFileAndNothing) {
  Write("file");
  EXPECT_TRUE(RemoveTreeAt(AT_FDCWD, Below("file/missing")).ok());
  EXPECT_TRUE(RemoveTreeAt(AT_FDCWD, Below("file")).ok());
  EXPECT_FALSE(fs::exists(Below("file")));
  EXPECT_TRUE(RemoveTreeAt(AT_FDCWD, Below("file")).ok());
}

TEST_F(TreeRemovals, SayThatNoDescriptorIsFree) {
  Write("tree/file");
  const int next = ::dup(STDIN_FILENO);
  ::close(next);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit one{static_cast<rlim_t>(next) + 1, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &one), 0);
  const Status removed = RemoveTreeAt(AT_FDCWD, Below("tree"));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(removed.ok());
  EXPECT_EQ(removed.error().code, Code::kUnavailable) << removed.error().message;
  const int after = ::dup(STDIN_FILENO);
  ::close(after);
  EXPECT_EQ(after, next) << "it leaves no descriptor open";
}

TEST_F(TreeRemovals, TakeTheRestAndSayWhatTheyCannotTake) {
  if (::geteuid() != 0) GTEST_SKIP() << "this user cannot give files away";
  ASSERT_EQ(::chmod(directory_.path().c_str(), 0755), 0);
  Write("tree/a/file");
  Write("tree/b/file");
  Write("tree/c/file");
  for (const char* path : {"tree", "tree/a", "tree/c", "tree/a/file", "tree/c/file"}) {
    ASSERT_EQ(::chown(Below(path).c_str(), kNobody, kNobody), 0);
  }
  EXPECT_EQ(AsNobody([this] {
              const Status removed = RemoveTreeAt(AT_FDCWD, Below("tree"));
              return removed.ok() ? 0 : errno;
            }),
            EACCES);
  EXPECT_FALSE(fs::exists(Below("tree/a")));
  EXPECT_TRUE(fs::exists(Below("tree/b/file")));
  EXPECT_FALSE(fs::exists(Below("tree/c")));
}

}  // namespace
}  // namespace caip
