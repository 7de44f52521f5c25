// Cancel, in every phase of a run.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/support/run_bench.h"

namespace caip::engine {
namespace {

using run::JobState;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::IsEmpty;

TEST(JobRun, CancelledInTheQueueItHasAnEndButNoStart) {
  Bench b;
  b.Feed(Submitted{});
  b.now += seconds(3);
  b.Feed(CancelAsked{"because"});
  EXPECT_EQ(b.State(), JobState::kCancelled);
  EXPECT_EQ(b.run.job().end_time, kMorning + seconds(3));
  EXPECT_FALSE(b.run.job().start_time);
  EXPECT_EQ(b.run.job().error_message, "because");
  EXPECT_THAT(b.Last(), Contains("save CANCELLING"));
  EXPECT_THAT(b.Last(), Contains("leave queue"));
}

TEST(JobRun, CancelledWhileInstallingItAbandonsThePackages) {
  Bench b;
  b.Feed(Submitted{});
  b.Grant();
  b.Feed(CancelAsked{"because"});
  EXPECT_THAT(b.Last(), Contains("abandon packages"));
  EXPECT_EQ(b.State(), JobState::kCancelled);
  b.Prepare();
  EXPECT_THAT(b.Last(), IsEmpty());
}

TEST(JobRun, CancelledWhileRunningItEndsWhenAllReplicasAreGone) {
  Bench b;
  b.UntilRunning();
  b.Feed(CancelAsked{"because"});
  EXPECT_EQ(b.State(), JobState::kCancelling);
  for (run::ReplicaId id : {kMasterId, kWorker0, kWorker1}) b.Exit(id, 0, SIGTERM);
  EXPECT_EQ(b.State(), JobState::kCancelling);
  EXPECT_FALSE(b.run.job().end_time);
  b.Exit(kPs, 1);
  EXPECT_EQ(b.State(), JobState::kCancelled);
  EXPECT_THAT(b.all, Contains("log service: Job cancelled."));
}

// docs/service/api.md, section 8
TEST(JobRun, StatesTheReasonOfACancelWhileItStops) {
  Bench b;
  b.UntilRunning();
  b.Feed(CancelAsked{"because"});
  EXPECT_EQ(b.State(), JobState::kCancelling);
  EXPECT_EQ(b.saved.job.state, JobState::kCancelling);
  EXPECT_EQ(b.saved.job.error_message, "because");
  b.ExitAll(SIGTERM);
  EXPECT_EQ(b.State(), JobState::kCancelled);
  EXPECT_EQ(b.saved.job.error_message, "because");
}

TEST(JobRun, ASecondCancelChangesNothing) {
  Bench b;
  b.UntilRunning();
  b.Feed(CancelAsked{"one"});
  b.Feed(CancelAsked{"two"});
  EXPECT_THAT(b.Last(), IsEmpty());
  b.ExitAll(SIGTERM);
  EXPECT_EQ(b.run.job().error_message, "one");
}

TEST(JobRun, KeepsTheCauseOfItsEnd) {
  struct Row {
    run::EndCause cause;
    std::function<void(Bench&)> end;
  };
  const Row rows[] = {
      {run::EndCause::kNone, [](Bench& b) { b.Exit(kMasterId); }},
      {run::EndCause::kReplicaFailed, [](Bench& b) { b.Exit(kWorker0, 1); }},
      {run::EndCause::kOutOfMemory,
       [](Bench& b) {
         b.Feed(ReplicaExit{b.Key(kWorker0), 0, SIGKILL, true, "", ""});
       }},
      {run::EndCause::kCancelled, [](Bench& b) { b.Feed(CancelAsked{"because"}); }},
      {run::EndCause::kRanTooLong, [](Bench& b) { b.Fire(TimerKind::kMaxRunning); }},
  };
  for (const Row& row : rows) {
    Bench b;
    b.UntilRunning();
    row.end(b);
    EXPECT_EQ(b.run.job().end_cause, run::EndCause::kNone) << "set only when the job ends";
    b.KillEmulator();
    EXPECT_TRUE(run::IsTerminal(b.State()));
    EXPECT_EQ(b.run.job().end_cause, row.cause) << run::Name(row.cause);
  }
}

TEST(JobRun, AMasterThatObeysWithZeroIsStillCancelled) {
  Bench b;
  b.UntilRunning();
  b.Feed(CancelAsked{"because"});
  b.ExitAll(0);
  EXPECT_EQ(b.State(), JobState::kCancelled);
}

TEST(JobRun, CancelledWhileItIsBeingRetriedItDoesNotBeginAnew) {
  Bench b;
  b.UntilRunning();
  b.Exit(kWorker0, 0, SIGABRT);
  b.Feed(CancelAsked{"because"});
  EXPECT_EQ(b.State(), JobState::kCancelling);
  for (run::ReplicaId id : {kMasterId, kWorker1, kPs}) b.Exit(id, 0, SIGTERM);
  EXPECT_EQ(b.State(), JobState::kCancelled);
}

TEST(JobRun, FinishedBeforeTheCancelTookEffectItKeepsItsOutcome) {
  Bench b;
  b.UntilRunning();
  b.Exit(kMasterId);
  b.Feed(CancelAsked{"too late"});
  EXPECT_EQ(b.State(), JobState::kCancelling);
  EXPECT_EQ(b.saved.job.error_message, "too late");
  for (run::ReplicaId id : {kWorker0, kWorker1, kPs}) b.Exit(id, 0, SIGTERM);
  EXPECT_EQ(b.State(), JobState::kSucceeded);
  EXPECT_EQ(b.run.job().error_message, "");
}

}  // namespace
}  // namespace caip::engine
