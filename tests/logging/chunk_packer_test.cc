#include "fakes/logging/book/chunk_packer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/time_text.h"

namespace caip::logging {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

const Instant kPackNoon = *ParseRfc3339("2022-02-09T12:00:00Z");

Entry LineOf(const std::string& job_id) {
  Entry entry;
  entry.project = "p";
  entry.job_id = job_id;
  entry.task = "master-replica-0";
  entry.severity = "INFO";
  entry.timestamp = kPackNoon;
  entry.message = "x";
  return entry;
}

class ChunkPackerTest : public ::testing::Test {
 protected:
  std::vector<Chunk> Stored(const std::string& job_id) {
    const auto chunks = packer_.Pack({{LineOf(job_id)}}, [&](const auto&, const std::string& job) {
      searched_.push_back(job);
      return Result<LastEntry>(LastEntry{1, kPackNoon + std::chrono::seconds(5)});
    });
    EXPECT_TRUE(chunks.ok());
    packer_.MarkStored(*chunks);
    return *chunks;
  }
  ChunkPacker packer_{0};
  std::vector<std::string> searched_;
};

TEST_F(ChunkPackerTest, SearchesTheFileOnceForAJobThatWrites) {
  for (int i = 0; i < 3; ++i) Stored("j");
  EXPECT_THAT(searched_, ElementsAre("j"));
}

// A server that runs for days sees any number of jobs.
TEST_F(ChunkPackerTest, ForgetsJobsThatNoLongerWrite) {
  Stored("old");
  for (int i = 0; i < 20'000; ++i) Stored("job_" + std::to_string(i));
  searched_.clear();
  const auto chunks = Stored("old");
  EXPECT_THAT(searched_, ElementsAre("old"));
  ASSERT_THAT(chunks, SizeIs(1));
  EXPECT_EQ(chunks[0].first_time,
            kPackNoon + std::chrono::seconds(5));  // never before earlier ones
}

}  // namespace
}  // namespace caip::logging
