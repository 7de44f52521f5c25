#include "engine/timers.h"

#include <gtest/gtest.h>

namespace caip::engine {
namespace {

using std::chrono::seconds;

const RunKey kOne{"p", "one", ""};
const RunKey kOther{"p", "other", ""};
const run::ReplicaId kWorker{"worker", 0};
Instant At(int second) { return Instant(seconds(second)); }

TEST(Timers, FireInTheOrderOfTheirTimes) {
  Timers timers;
  timers.Start(kOne, {TimerKind::kMaxWait, {}, 1}, At(30));
  timers.Start(kOther, {TimerKind::kQueueOver, {}, 2}, At(10));
  EXPECT_EQ(timers.NextDeadline(), At(10));
  EXPECT_EQ(timers.TakeDue(At(9)), std::nullopt);
  EXPECT_EQ(timers.TakeDue(At(30))->run, kOther);
  const auto second = timers.TakeDue(At(30));
  EXPECT_EQ(second->run, kOne);
  EXPECT_EQ(second->fired.stamp, 1);
  EXPECT_EQ(timers.NextDeadline(), kNever);
}

TEST(Timers, EqualTimesFireInTheOrderOfStarting) {
  Timers timers;
  timers.Start(kOther, {TimerKind::kGraceOver, kWorker, 1}, At(5));
  timers.Start(kOne, {TimerKind::kGraceOver, kWorker, 1}, At(5));
  EXPECT_EQ(timers.TakeDue(At(5))->run, kOther);
  EXPECT_EQ(timers.TakeDue(At(5))->run, kOne);
}

TEST(Timers, ASecondOfTheSameKindAndReplicaReplacesTheFirst) {
  Timers timers;
  timers.Start(kOne, {TimerKind::kGraceOver, kWorker, 1}, At(5));
  timers.Start(kOne, {TimerKind::kGraceOver, kWorker, 2}, At(9));
  EXPECT_EQ(timers.TakeDue(At(8)), std::nullopt);
  EXPECT_EQ(timers.TakeDue(At(9))->fired.stamp, 2);
  EXPECT_EQ(timers.TakeDue(At(99)), std::nullopt);
}

TEST(Timers, StoppingARunLeavesTheOthers) {
  Timers timers;
  for (auto kind : {TimerKind::kQueueOver, TimerKind::kMaxWait, TimerKind::kMaxRunning}) {
    timers.Start(kOne, {kind, {}, 0}, At(1));
    timers.Start(kOther, {kind, {}, 0}, At(2));
  }
  timers.StopAllOf(kOne);
  EXPECT_EQ(timers.NextDeadline(), At(2));
  timers.Stop(kOther, TimerKind::kMaxWait, {});
  timers.Stop(kOther, TimerKind::kMaxWait, {});  // again: nothing
  EXPECT_EQ(timers.TakeDue(At(2))->fired.kind, TimerKind::kQueueOver);
  EXPECT_EQ(timers.TakeDue(At(2))->fired.kind, TimerKind::kMaxRunning);
  EXPECT_EQ(timers.TakeDue(At(2)), std::nullopt);
}

}  // namespace
}  // namespace caip::engine
