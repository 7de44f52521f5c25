#include "host/metrics/reading_thread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <fstream>
#include <memory>
#include <string>

#include "tests/host/launch_world.h"
#include "tests/host/metrics/no_threads.h"

namespace caip::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A thread, and what it has done.
class ReadingThreadTest : public ::testing::Test {
 protected:
  void Note(const std::string& what) {
    const std::lock_guard lock(mutex_);
    done_.push_back(what);
    changed_.notify_all();
  }
  std::vector<std::string> AwaitDone(size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(
        changed_.wait_for(lock, std::chrono::seconds(30), [&] { return done_.size() >= count; }));
    return done_;
  }
  /// A task that is done when it runs for the `times`th time.
  ReadingThread::Task TaskOf(const std::string& name, int times) {
    return [this, name, times]() mutable {
      Note(name);
      return --times == 0;
    };
  }
  bool Read() {
    const std::lock_guard lock(mutex_);
    if (reads_left_ == 0) return true;
    done_.push_back("read");
    changed_.notify_all();
    return --reads_left_ == 0;
  }
  void NoteChange(uint64_t number, const Path& file) {
    Note(std::to_string(number) + " " + file.filename().string());
    const std::lock_guard lock(mutex_);
    reads_left_ = 1;
  }
  std::unique_ptr<ReadingThread> Make() {
    return std::make_unique<ReadingThread>(ReadingThread::Callbacks{
        [this](uint64_t number, const Path& file) { NoteChange(number, file); },
        [this] { return Read(); }});
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> done_;
  int reads_left_ = 0;  // that find something to read
  std::unique_ptr<ReadingThread> thread_ = Make();
};

TEST_F(ReadingThreadTest, RepeatsTheTasksThatAreNotDone) {
  ASSERT_TRUE(thread_->Start().ok());
  ASSERT_TRUE(thread_->Start().ok()) << "it runs already";
  thread_->Post([this] {  // the others are posted in the same turn
    thread_->Post(TaskOf("a", 2));
    thread_->Post(TaskOf("b", 1));
    thread_->Post(TaskOf("c", 3));
    return true;
  });
  EXPECT_THAT(AwaitDone(6), ElementsAre("a", "b", "c", "a", "c", "c"));
}

TEST_F(ReadingThreadTest, ReadsAgainWithoutAnEventWhileSomethingIsLeft) {
  reads_left_ = 3;
  ASSERT_TRUE(thread_->Start().ok());
  thread_->Post(TaskOf("a", 1));
  EXPECT_THAT(AwaitDone(4), ElementsAre("a", "read", "read", "read"));
}

TEST_F(ReadingThreadTest, ReadsAfterTheEventsOfWatchedDirectories) {
  const TemporaryDirectory root;
  ASSERT_TRUE(thread_->Start().ok());
  thread_->Post([&] { return thread_->watch().Add(7, root.path(), false); });
  thread_->Post(TaskOf("watched", 1));
  AwaitDone(1);
  std::ofstream(root.path() / "file");
  const auto done = AwaitDone(3);
  ASSERT_GE(done.size(), 3u);
  EXPECT_EQ(done[1], "7 file");
  EXPECT_EQ(done[2], "read");
}

TEST_F(ReadingThreadTest, RunsNothingAfterItsEnd) {
  ASSERT_TRUE(thread_->Start().ok());
  thread_->Post(TaskOf("never done", -1));
  AwaitDone(2);
  thread_->Stop();
  const size_t count = done_.size();
  thread_->Post(TaskOf("late", 1));
  EXPECT_TRUE(thread_->Start().ok());
  thread_->Stop();
  EXPECT_EQ(done_.size(), count);
}

TEST_F(ReadingThreadTest, EndsAlsoIfItHasNeverStarted) {
  thread_->Stop();
  thread_.reset();
  EXPECT_TRUE(done_.empty());
}

TEST_F(ReadingThreadTest, StartFailsWhileNoThreadIsAvailable) {
  {
    const NoThreads none;
    const Status started = thread_->Start();
    ASSERT_FALSE(started.ok());
    EXPECT_EQ(started.error().code, Code::kUnavailable);
    EXPECT_THAT(started.error().message, HasSubstr("cannot start a thread"));
  }
  ASSERT_TRUE(thread_->Start().ok());
  thread_->Post(TaskOf("a", 1));
  EXPECT_THAT(AwaitDone(1), ElementsAre("a"));
}

TEST_F(ReadingThreadTest, StartFailsWhileNoDescriptorIsFree) {
  {
    const NoDescriptors none;
    thread_ = Make();
    const Status started = thread_->Start();
    ASSERT_FALSE(started.ok());
    EXPECT_EQ(started.error().code, Code::kUnavailable);
  }
  ASSERT_TRUE(thread_->Start().ok());
  thread_->Post(TaskOf("a", 1));
  EXPECT_THAT(AwaitDone(1), ElementsAre("a"));
}

}  // namespace
}  // namespace caip::host
