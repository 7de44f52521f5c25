#include <gtest/gtest.h>

#include "fakes/gcs/store/object_record.h"

namespace caip::gcs {
namespace {

RecordPtr RecordOf(const std::string& name, int64_t generation) {
  ObjectRecord record;
  record.info.bucket = "bkt";
  record.info.name = name;
  record.info.generation = generation;
  return std::make_shared<const ObjectRecord>(std::move(record));
}

int64_t GenerationIn(RecordCache& cache, const std::string& name) {
  const auto found = cache.Find("bkt", name);
  return found ? found->info.generation : 0;
}

TEST(RecordCache, GivesWhatWasPutLast) {
  RecordCache cache(2);
  cache.Put(RecordOf("a", 1));
  cache.Put(RecordOf("a", 2));
  EXPECT_EQ(GenerationIn(cache, "a"), 2);
  EXPECT_FALSE(cache.Find("bkt", "b"));
  EXPECT_FALSE(cache.Find("other", "a"));
}

TEST(RecordCache, KeepsWhatIsAskedForAndIsBounded) {
  RecordCache cache(3);
  cache.Put(RecordOf("wanted", 1));
  for (int i = 0; i < 100; ++i) {
    cache.Put(RecordOf("passing " + std::to_string(i), i));
    ASSERT_EQ(GenerationIn(cache, "wanted"), 1) << i;
    ASSERT_LE(cache.size(), 6u);
  }
  EXPECT_FALSE(cache.Find("bkt", "passing 0"));
}

TEST(RecordCache, AnOlderGenerationOfARecordNeverComesBack) {
  RecordCache cache(1);
  cache.Put(RecordOf("a", 1));
  cache.Put(RecordOf("b", 1));  // now a is among the old ones
  cache.Put(RecordOf("a", 2));
  cache.Put(RecordOf("c", 1));
  EXPECT_EQ(GenerationIn(cache, "a"), 2);
  cache.Forget("bkt", "a");
  EXPECT_FALSE(cache.Find("bkt", "a"));
}

TEST(RecordCache, CanBeCleared) {
  RecordCache cache(1);
  cache.Put(RecordOf("a", 1));
  cache.Put(RecordOf("b", 1));
  cache.Clear();
  EXPECT_EQ(cache.size(), 0u);
}

}  // namespace
}  // namespace caip::gcs
