#include "host/metrics/directory_watch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <set>
#include <string>

#include "tests/host/launch_world.h"

namespace caip::host {
namespace {

bool IsReadable(int descriptor) {
  struct pollfd waits {
    descriptor, POLLIN, 0
  };
  return ::poll(&waits, 1, 0) == 1;
}

// Programs may make events faster than they are handled.
TEST(DirectoryWatch, HandlesABoundedNumberOfEventsAtOnce) {
  constexpr int kWrites = 6000;
  const auto queue = ReadFile("/proc/sys/fs/inotify/max_queued_events");
  if (!queue.ok() || std::stol(*queue) <= kWrites + 10) GTEST_SKIP() << "the kernel keeps fewer";
  const TemporaryDirectory root;
  std::set<std::string> changed;
  DirectoryWatch watch([&](uint64_t, const Path& file) { changed.insert(file.filename()); });
  ASSERT_TRUE(watch.Add(1, root.path(), false));
  const Fd a(::open((root.path() / "a").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  const Fd b(::open((root.path() / "b").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  for (int i = 0; i < kWrites; ++i) {  // the kernel joins events of the same file
    ASSERT_TRUE(WriteAll(i % 2 == 0 ? a.get() : b.get(), "x"));
  }
  const Fd last(::open((root.path() / "last").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  watch.Handle();
  EXPECT_EQ(changed, (std::set<std::string>{"a", "b"}));
  EXPECT_TRUE(IsReadable(watch.descriptor()));
  while (IsReadable(watch.descriptor())) watch.Handle();
  EXPECT_EQ(changed, (std::set<std::string>{"a", "b", "last"}));
}

TEST(DirectoryWatch, AddTriesAgainAfterAShortageOfDescriptors) {
  const TemporaryDirectory root;
  std::set<std::string> changed;
  DirectoryWatch watch([&](uint64_t, const Path& file) { changed.insert(file.filename()); });
  {
    const NoDescriptors none;
    EXPECT_FALSE(watch.Add(1, root.path(), false));
  }
  watch.Handle();  // does nothing
  ASSERT_TRUE(watch.Add(2, root.path(), false));
  const Fd file(::open((root.path() / "file").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  watch.Handle();
  EXPECT_EQ(changed, (std::set<std::string>{"file"}));
}

}  // namespace
}  // namespace caip::host
