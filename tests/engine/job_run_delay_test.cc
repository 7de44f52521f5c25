// Delays and deadlines of a run.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/run_bench.h"

namespace caip::engine {
namespace {

using run::JobState;
using std::chrono::hours;
using std::chrono::minutes;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(JobRun, MaxWaitTimeCancelsInTheQueue) {
  RunRules rules = PlainRules();
  rules.queue_delay = run::ConstantDelay{hours(2)};
  Bench b(rules, WithScheduling(minutes(30), {}));
  b.Feed(Submitted{});
  EXPECT_EQ(b.timers.at({TimerKind::kQueueOver, {}}).at, kMorning + hours(2));
  b.Fire(TimerKind::kMaxWait);
  EXPECT_EQ(b.now, kMorning + minutes(30));
  EXPECT_EQ(b.State(), JobState::kCancelled);
  EXPECT_THAT(b.run.job().error_message, HasSubstr("maxWaitTime (1800s)"));
}

TEST(JobRun, MaxWaitTimeCancelsWhilePreparing) {
  Bench b(PlainRules(), WithScheduling(minutes(30), {}));
  b.Feed(Submitted{});
  b.Grant();
  b.Fire(TimerKind::kMaxWait);
  EXPECT_EQ(b.State(), JobState::kCancelled);
}

TEST(JobRun, MaxWaitTimeNeverFiresBehindTheFirstRunning) {
  Bench b(PlainRules(), WithScheduling(minutes(30), {}));
  b.UntilRunning();
  EXPECT_FALSE(b.timers.contains({TimerKind::kMaxWait, {}}));
  b.Exit(kMasterId, 0, SIGABRT);
  for (run::ReplicaId id : {kWorker0, kWorker1, kPs}) b.Exit(id, 0, SIGTERM);
  ASSERT_EQ(b.State(), JobState::kPreparing);
  b.Feed(TimerFired{TimerKind::kMaxWait, {}, 0});
  EXPECT_THAT(b.Last(), IsEmpty());
}

TEST(JobRun, MaxRunningTimeCancelsAndCountsFromRunning) {
  Bench b(PlainRules(), WithScheduling({}, hours(1)));
  b.Feed(Submitted{});
  b.now += minutes(20);
  b.Grant();
  b.Prepare();
  b.StartAll();
  b.Fire(TimerKind::kMaxRunning);
  EXPECT_EQ(b.now, kMorning + minutes(20) + hours(1));
  EXPECT_EQ(b.State(), JobState::kCancelling);
  b.ExitAll(SIGTERM);
  EXPECT_EQ(b.State(), JobState::kCancelled);
  EXPECT_THAT(b.run.job().error_message, HasSubstr("maxRunningTime (3600s)"));
}

TEST(JobRun, MaxRunningTimeIsSevenDaysUnlessSaid) {
  Bench b;
  b.UntilRunning();
  EXPECT_EQ(b.timers.at({TimerKind::kMaxRunning, {}}).at, kMorning + hours(7 * 24));
}

TEST(JobRun, ADeadlineBeyondTheClockIsNone) {
  Bench b(PlainRules(), WithScheduling({}, Duration::max()));
  b.UntilRunning();
  EXPECT_EQ(b.timers.at({TimerKind::kMaxRunning, {}}).at, kNever);
}

TEST(JobRun, WaitsInTheQueueAsLongAsTheModelSays) {
  RunRules rules = PlainRules();
  rules.queue_delay = run::ConstantDelay{minutes(20)};
  Bench b(rules);
  b.Feed(Submitted{});
  EXPECT_THAT(b.Last(), Not(Contains("become ready")));
  b.Fire(TimerKind::kQueueOver);
  EXPECT_EQ(b.now, kMorning + minutes(20));
  EXPECT_THAT(b.Last(), ElementsAre("become ready"));
}

TEST(JobRun, WaitsForItsMachinesBeforeItInstalls) {
  RunRules rules = PlainRules();
  rules.provisioning_delay = run::ConstantDelay{minutes(4)};
  Bench b(rules);
  b.Feed(Submitted{});
  b.Grant();
  EXPECT_EQ(b.State(), JobState::kPreparing);
  EXPECT_THAT(b.Last(), Not(Contains(HasSubstr("prepare packages"))));
  b.Fire(TimerKind::kProvisioned);
  EXPECT_EQ(b.now, kMorning + minutes(4));
  EXPECT_THAT(b.Last(), Contains("prepare packages attempt 1"));
}

TEST(JobRun, WaitsForANewMachineAfterALoss) {
  RunRules rules = PlainRules();
  rules.vm_restart_delay = run::ConstantDelay{minutes(2)};
  Bench b(rules);
  b.UntilRunning();
  b.Feed(VmLost{kPs, VmLoss::kKill});
  b.Exit(kPs, 0, SIGKILL);
  EXPECT_EQ(b.launches[kPs].size(), 1u);
  b.Fire(TimerKind::kReplaced, kPs);
  EXPECT_EQ(b.launches[kPs].size(), 2u);
  b.Exit(kPs, 0, SIGKILL);
  EXPECT_EQ(b.launches[kPs].size(), 3u) << "a fault in the same VM waits for none";
}

TEST(JobRun, StockOutFailsAfterThreeTriesWhereverItHappens) {
  const run::DelayModel kNone = run::StockOut{3, minutes(5)};
  for (int where = 0; where < 3; ++where) {
    RunRules rules = PlainRules();
    (where == 0   ? rules.queue_delay
     : where == 1 ? rules.provisioning_delay
                  : rules.vm_restart_delay) = kNone;
    Bench b(rules);
    b.Feed(Submitted{});
    if (where == 0) b.Fire(TimerKind::kQueueOver);
    if (where > 0) b.Grant();
    if (where == 1) b.Fire(TimerKind::kProvisioned);
    if (where == 2) {
      b.Prepare();
      b.StartAll();
      b.Feed(VmLost{kPs, VmLoss::kKill});
      b.Exit(kPs, 0, SIGKILL);
      b.Fire(TimerKind::kReplaced, kPs);
      for (run::ReplicaId id : {kMasterId, kWorker0, kWorker1}) b.Exit(id, 0, SIGTERM);
    }
    EXPECT_EQ(b.State(), JobState::kFailed) << where;
    EXPECT_EQ(b.now, kMorning + minutes(15));
    EXPECT_EQ(b.run.job().error_message,
              "Resources are insufficient in region: us-central1. Try a different region or use a "
              "different accelerator.");
    EXPECT_THAT(b.all, Contains(HasSubstr("try 3 of 3")));
  }
}

}  // namespace
}  // namespace caip::engine
