#include "base/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "base/errors.h"

namespace caip {
namespace {

namespace fs = std::filesystem;

TEST(Files, AreWrittenWholeOrNotAtAll) {
  TemporaryDirectory directory;
  const Path path = directory.path() / "file";
  ASSERT_TRUE(WriteFileDurably(path, "one").ok());
  ASSERT_TRUE(WriteFileDurably(path, "two").ok());
  EXPECT_EQ(*ReadFile(path), "two");
  EXPECT_EQ(std::distance(fs::directory_iterator(directory.path()), {}), 1) << "no temporary file";
}

TEST(Files, AFailedWriteLeavesNothingBehind) {
  TemporaryDirectory directory;
  fs::create_directory(directory.path() / "taken");
  ASSERT_FALSE(WriteFileDurably(directory.path() / "taken", "x").ok());
  EXPECT_EQ(std::distance(fs::directory_iterator(directory.path()), {}), 1);
}

TEST(SystemErrors, TellWhatPassesFromWhatStays) {
  EXPECT_EQ(SystemError("x", ENOSPC).code, Code::kResourceExhausted);
  EXPECT_EQ(SystemError("x", EMFILE).code, Code::kUnavailable);
  EXPECT_EQ(SystemError("x", ENFILE).code, Code::kUnavailable);
}

TEST(Files, SayWhatIsMissing) {
  const auto missing = ReadFile("/nowhere/at/all");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, Code::kNotFound);
  EXPECT_EQ(missing.error().message, "cannot open '/nowhere/at/all': No such file or directory");
}

TEST(Files, AreReadUpToALimit) {
  TemporaryDirectory directory;
  ASSERT_TRUE(WriteFile(directory.path() / "f", "12345").ok());
  EXPECT_TRUE(ReadFileUpTo(directory.path() / "f", 5).ok());
  EXPECT_EQ(ReadFileUpTo(directory.path() / "f", 4).error().code, Code::kOutOfRange);
}

TEST(TemporaryDirectory, ThatCannotBeMadeIsAnError) {
  const char* set = std::getenv("TMPDIR");
  const std::string before = set ? set : "/tmp";
  ::setenv("TMPDIR", "/missing", 1);
  const auto made = TemporaryDirectory::Make("caip-test-");
  ::setenv("TMPDIR", before.c_str(), 1);
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().message.find("/missing/caip-test-"), std::string::npos);
}

class LeftDirectories : public ::testing::Test {
 protected:
  void SetUp() override { ::setenv("TMPDIR", folder_.path().c_str(), 1); }
  void TearDown() override { ::setenv("TMPDIR", before_.c_str(), 1); }

  // A process that makes a temporary directory, and is killed when the test wants it.
  pid_t StartOwner(Path& made) {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      const auto directory = TemporaryDirectory::Make("caip-test-");
      if (!directory.ok() || !WriteFile(directory->path() / "x", "y").ok()) ::_exit(1);
      const std::string path = directory->path().string();
      if (!WriteAll(ends[1], path)) ::_exit(1);
      ::close(ends[1]);
      while (true) ::pause();
    }
    ::close(ends[1]);
    char text[4096];
    std::string path;
    for (ssize_t count = 0; (count = ::read(ends[0], text, sizeof text)) > 0;) {
      path.append(text, static_cast<size_t>(count));
      if (fs::exists(path)) break;
    }
    ::close(ends[0]);
    made = path;
    return child;
  }
  static void Kill(pid_t process) {
    ::kill(process, SIGKILL);
    ::waitpid(process, nullptr, 0);
  }
  size_t Count() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }

  TemporaryDirectory folder_;
  std::string before_ = std::getenv("TMPDIR") ? std::getenv("TMPDIR") : "/tmp";
};

TEST_F(LeftDirectories, OfAKilledProcessAreDeletedByTheNext) {
  Path left;
  Kill(StartOwner(left));
  ASSERT_TRUE(fs::exists(left / "x"));
  ASSERT_TRUE(TemporaryDirectory::Make("caip-other-").ok());
  EXPECT_TRUE(fs::exists(left / "x")) << "another prefix is another use";
  ASSERT_TRUE(TemporaryDirectory::Make("caip-test-").ok());
  EXPECT_EQ(Count(), 0u);
}

TEST_F(LeftDirectories, AreDeletedInAnotherParentToo) {
  const TemporaryDirectory parent;
  fs::create_directories(parent.path() / "caip-test-1.abcdef/below");
  fs::create_directory(parent.path() / "caip-test-2.abcdef");
  const Fd used(::open((parent.path() / "caip-test-2.abcdef").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::flock(used.get(), LOCK_EX), 0);
  const auto made = TemporaryDirectory::MakeIn(parent.path(), "caip-test-");
  ASSERT_TRUE(made.ok());
  EXPECT_FALSE(fs::exists(parent.path() / "caip-test-1.abcdef"));
  EXPECT_TRUE(fs::exists(parent.path() / "caip-test-2.abcdef")) << "a program uses it";
  const Fd lock(::open(made->path().c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_NE(::flock(lock.get(), LOCK_EX | LOCK_NB), 0) << "this program uses it";
}

TEST_F(LeftDirectories, OfEarlierVersionsHaveNoNumberOfAProcess) {
  const TemporaryDirectory parent;
  for (const char* name : {"caip-old-aB3xYz/below", "caip-old-in1use", "caip-old-aB3xY",
                           "caip-old-aB3xYz7", "caip-old-aB.xYz", "caip-o-aB3xYz"}) {
    fs::create_directories(parent.path() / name);
  }
  ASSERT_TRUE(WriteFile(parent.path() / "caip-old-a1file", "").ok());
  const Fd used(::open((parent.path() / "caip-old-in1use").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::flock(used.get(), LOCK_EX), 0);
  TemporaryDirectory::RemoveWithoutProcess(parent.path(), "caip-old-");
  std::vector<std::string> left;
  for (const auto& entry : fs::directory_iterator(parent.path())) {
    left.push_back(entry.path().filename().string());
  }
  std::sort(left.begin(), left.end());
  EXPECT_EQ(left,
            (std::vector<std::string>{"caip-o-aB3xYz", "caip-old-a1file", "caip-old-aB.xYz",
                                      "caip-old-aB3xY", "caip-old-aB3xYz7", "caip-old-in1use"}));
}

TEST_F(LeftDirectories, AreNotThoseThatProcessesUse) {
  Path used;
  const pid_t owner = StartOwner(used);
  const auto first = TemporaryDirectory::Make("caip-test-");
  const auto second = TemporaryDirectory::Make("caip-test-");
  EXPECT_TRUE(fs::exists(used / "x"));
  EXPECT_TRUE(fs::exists(first->path()));
  Kill(owner);
}

TEST_F(LeftDirectories, AreNotThoseThatPersonsNamedAlike) {
  const char* const names[] = {"caip-test-backup", "caip-test-1", "caip-test-.abcdef",
                               "caip-test-1.abcdefg"};
  for (const char* name : names) fs::create_directory(folder_.path() / name);
  fs::create_directory(folder_.path() / "elsewhere");
  fs::create_directory_symlink(folder_.path() / "elsewhere", folder_.path() / "caip-test-1.abcdef");
  std::ofstream(folder_.path() / "caip-test-2.abcdef") << "a file";
  ASSERT_TRUE(TemporaryDirectory::Make("caip-test-").ok());
  EXPECT_EQ(Count(), std::size(names) + 3);
}

TEST_F(LeftDirectories, OfOtherUsersStay) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make files of another user";
  const Path other = folder_.path() / "caip-test-1.abcdef";
  fs::create_directory(other);
  ASSERT_EQ(::chown(other.c_str(), 1, 1), 0);
  ASSERT_TRUE(TemporaryDirectory::Make("caip-test-").ok());
  EXPECT_TRUE(fs::exists(other));
}

// Each takes what the others have just made for left, until it is locked.
TEST_F(LeftDirectories, AreToldFromNewOnes) {
  std::vector<std::thread> makers;
  std::atomic<int> lost{0};
  for (int i = 0; i < 4; ++i) {
    makers.emplace_back([&] {
      for (int round = 0; round < 300; ++round) {
        const auto made = TemporaryDirectory::Make("caip-test-");
        if (!made.ok() || !WriteFile(made->path() / "x", "y").ok()) ++lost;
      }
    });
  }
  for (std::thread& maker : makers) maker.join();
  EXPECT_EQ(lost, 0);
  EXPECT_EQ(Count(), 0u);
}

TEST(TemporaryDirectory, IsGoneWithItsOwner) {
  Path path;
  {
    TemporaryDirectory directory;
    path = directory.path();
    ASSERT_TRUE(WriteFile(path / "x", "y").ok());
  }
  EXPECT_FALSE(fs::exists(path));
}

}  // namespace
}  // namespace caip
