// How threads share the commits of the side store.

#include <gmock/gmock.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/files.h"
#include "fakes/gcs/store/side_store.h"

namespace caip::gcs {
namespace {

ObjectRecord RecordOf(int thread) {
  ObjectRecord record;
  record.info.bucket = "bkt";
  record.info.name = "made" + std::to_string(thread);
  return record;
}

// It may hold the lock of a bucket for which that work waits: a change that keeps a version does.
TEST(SideCommits, AThreadWithoutWorkToFinishFinishesNoneOfOthers) {
  constexpr int kRounds = 300;
  TemporaryDirectory directory;
  auto store = SideStore::Open(directory.path() / "buckets.db", false, 1);
  ASSERT_TRUE(store.ok());
  static thread_local bool has_no_work = false;
  std::atomic<int> finished = 0;
  std::atomic<int> by_threads_without_work = 0;
  const std::function<void()> finish = [&] {
    ++finished;
    if (has_no_work) ++by_threads_without_work;
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      has_no_work = t % 2 == 0;
      for (int i = 0; i < kRounds; ++i) {
        (*store)->StageObject(RecordOf(t));
        EXPECT_TRUE((*store)->Flush(has_no_work ? std::function<void()>() : finish).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(finished, 3 * kRounds);
  EXPECT_EQ(by_threads_without_work, 0);
}

}  // namespace
}  // namespace caip::gcs
