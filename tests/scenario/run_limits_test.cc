// Which time counts for the limits of a run, and what counts as progress.

#include "emulator/scenario/run_limits.h"

#include <gtest/gtest.h>

namespace caip::scenario {
namespace {

using std::chrono::seconds;

harness::Event Entered(const char* state) { return {.body = harness::StateEvent{state}}; }

harness::Event Write(bool refused) {
  harness::StorageEvent write{.op = "create", .object = "job/lock"};
  write.failed = refused;
  return {.replica = "master-0", .boot = 1, .body = write};
}

class RunLimitsTest : public ::testing::Test {
 protected:
  RunLimitsTest() {
    limits_.wall = seconds(60);
    limits_.no_progress = seconds(10);
  }
  MonotonicTime At(int64_t second) const { return begin_ + seconds(second); }
  void Take(const harness::Event& event, int64_t second) { run_.Take(event, At(second)); }
  std::string Exceeded(int64_t second) const { return run_.Exceeded(At(second)); }

  harness::Limits limits_;
  MonotonicTime begin_{};
  RunLimits run_{limits_, begin_};
};

TEST_F(RunLimitsTest, TheTimeOfPreparingDoesNotCount) {
  Take(Entered("PREPARING"), 1);
  EXPECT_EQ(Exceeded(300), "") << "pip installs packages";
  Take(Entered("RUNNING"), 300);
  EXPECT_EQ(Exceeded(309), "");
  EXPECT_NE(Exceeded(311).find("limits.no_progress"), std::string::npos);
  for (int second = 305; second <= 358; second += 5) Take(Write(false), second);
  EXPECT_EQ(Exceeded(358), "");
  EXPECT_NE(Exceeded(361).find("limits.wall"), std::string::npos) << "one second before PREPARING";
}

TEST_F(RunLimitsTest, AJobThatIsTriedAgainPreparesAgain) {
  Take(Entered("PREPARING"), 0);
  Take(Entered("RUNNING"), 100);
  Take(Write(false), 105);
  Take(Entered("PREPARING"), 110);
  EXPECT_EQ(Exceeded(400), "");
  Take(Entered("RUNNING"), 400);
  EXPECT_EQ(Exceeded(409), "");
  EXPECT_NE(Exceeded(411), "");
}

TEST_F(RunLimitsTest, APreparationThatDoesNotEndIsNotAwaitedForever) {
  Take(Entered("PREPARING"), 0);
  EXPECT_EQ(Exceeded(15 * 60), "");
  EXPECT_EQ(Exceeded(15 * 60 + 1), "the job was PREPARING for more than 15m 00s");
}

TEST_F(RunLimitsTest, ARefusedWriteIsNoProgress) {
  Take(Entered("RUNNING"), 0);
  for (int second = 1; second <= 11; ++second) Take(Write(true), second);
  EXPECT_NE(Exceeded(11).find("limits.no_progress"), std::string::npos);
  Take(Write(false), 11);
  EXPECT_EQ(Exceeded(21), "");
}

}  // namespace
}  // namespace caip::scenario
