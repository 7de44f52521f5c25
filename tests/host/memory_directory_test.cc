#include "host/machine/memory_directory.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <thread>

namespace caip::host {
namespace {

constexpr auto kRoomPatience = std::chrono::seconds(20);

class MemoryDirectoryTest : public ::testing::Test {
 protected:
  /// A disk that is not in memory: that of the build.
  static std::unique_ptr<MemoryDirectory> Open(uint64_t need) {
    return MemoryDirectory::Open(std::filesystem::current_path(), need);
  }
};

TEST_F(MemoryDirectoryTest, IsGoneWithWhatWasWritten) {
  auto room = Open(1 << 20);
  if (!room) GTEST_SKIP() << "this host has no room in memory, or too little on its disk";
  const Path path = room->path();
  ASSERT_TRUE(WriteFile(path / "a file", "bytes").ok());
  EXPECT_FALSE(room->IsOverfull());
  room.reset();
  EXPECT_FALSE(std::filesystem::exists(path));
}

// In a process with a /dev/shm of its own, which has room for few files.
TEST_F(MemoryDirectoryTest, IsOverfullWhenAQuarterOfTheFilesIsMade) {
  const pid_t child = ::fork();
  if (child == 0) {
    const bool is_mounted = ::unshare(CLONE_NEWNS) == 0 &&
                            ::mount("", "/", "", MS_REC | MS_PRIVATE, "") == 0 &&
                            ::mount("few", "/dev/shm", "tmpfs", 0, "size=64m,nr_inodes=200") == 0;
    const auto room = is_mounted ? Open(1 << 10) : nullptr;
    if (!room) ::_exit(2);
    const auto make = [&](int count) {
      for (int i = 0; i < count; ++i) {
        if (!WriteFile(room->path() / std::to_string(i), "").ok()) ::_exit(3);
      }
    };
    make(20);
    if (room->IsOverfull()) ::_exit(4);
    make(60);
    ::_exit(room->IsOverfull() ? 0 : 5);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == 2) GTEST_SKIP() << "this user cannot mount a file system in memory";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(MemoryDirectoryTest, IsNotGivenToThoseWhoNeedTooMuch) {
  EXPECT_EQ(Open(uint64_t{1} << 60), nullptr);
}

TEST_F(MemoryDirectoryTest, IsNotGivenWhereTheDiskIsMemoryItself) {
  EXPECT_EQ(MemoryDirectory::Open("/dev/shm", 1), nullptr);
  EXPECT_EQ(MemoryDirectory::Open("/nowhere", 1), nullptr);
}

TEST_F(MemoryDirectoryTest, CountsTheBytesBelowADirectory) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(MakeDirectories(directory.path() / "deeper").ok());
  ASSERT_TRUE(WriteFile(directory.path() / "one", "12345").ok());
  ASSERT_TRUE(WriteFile(directory.path() / "deeper/two", "123").ok());
  std::filesystem::create_symlink("one", directory.path() / "not counted twice");
  EXPECT_EQ(BytesBelow(directory.path()), 8u);
  EXPECT_EQ(BytesBelow(directory.path() / "not there"), 0u);
}

TEST_F(MemoryDirectoryTest, IsGoneWhenItsOwnerIsKilled) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t owner = ::fork();
  if (owner == 0) {
    const auto room = Open(1 << 20);
    const std::string path = room ? room->path().string() : "none";
    if (room) (void)WriteFile(room->path() / "a file", "bytes");
    const ssize_t told = ::write(ends[1], path.c_str(), path.size() + 1);
    while (told > 0) ::pause();
    ::_exit(1);
  }
  std::array<char, 200> told{};
  ASSERT_GT(::read(ends[0], told.data(), told.size()), 0);
  ::kill(owner, SIGKILL);
  ::waitpid(owner, nullptr, 0);
  const std::string path = told.data();
  if (path == "none") GTEST_SKIP() << "this host has no room in memory";
  ASSERT_TRUE(path.starts_with("/dev/shm/"));
  const auto deadline = std::chrono::steady_clock::now() + kRoomPatience;
  while (std::filesystem::exists(path)) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << path << " is still there";
    std::this_thread::yield();
  }
}

}  // namespace
}  // namespace caip::host
