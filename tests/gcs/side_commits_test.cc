// How threads share the commits of the side store, and what they find before and after them.

#include <gmock/gmock.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/files.h"
#include "base/sqlite.h"
#include "fakes/gcs/errors.h"
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

TEST(SideCommits, ARemovedBucketIsNotFoundFromThenOn) {
  TemporaryDirectory directory;
  const Path file = directory.path() / "buckets.db";
  auto store = SideStore::Open(file, false, 1);
  ASSERT_TRUE(store.ok());
  const auto is_found = [&] {
    const auto bucket = (*store)->FindBucket("bkt");
    EXPECT_TRUE(bucket.ok());
    return bucket.ok() && bucket->has_value();
  };
  Bucket bucket;
  bucket.name = "bkt";
  (*store)->StageBucket(bucket);
  EXPECT_TRUE(is_found());
  ASSERT_TRUE((*store)->Flush().ok());
  EXPECT_TRUE(is_found());
  (*store)->StageBucketRemoval("bkt");
  EXPECT_FALSE(is_found()) << "before the commit";

  SqliteDatabase other(file, errors::SideStoreFailed);
  ASSERT_TRUE(other.Open(SqliteDatabase::Mode::kExisting).ok());
  ASSERT_TRUE(other.Run("ALTER TABLE objects RENAME TO gone").ok());
  EXPECT_FALSE((*store)->Flush().ok());
  EXPECT_FALSE(is_found()) << "after a refused commit";
  ASSERT_TRUE(other.Run("ALTER TABLE gone RENAME TO objects").ok());
  ASSERT_TRUE((*store)->Flush().ok());
  EXPECT_FALSE(is_found());
}

}  // namespace
}  // namespace caip::gcs
