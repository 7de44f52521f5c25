// A run whose emulator was killed after its last save.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/run_bench.h"

namespace caip::engine {
namespace {

using run::JobState;
using std::chrono::hours;
using std::chrono::minutes;
using ::testing::Contains;
using ::testing::HasSubstr;

TEST(Recovery, AQueuedJobKeepsItsDelayAndItsDeadline) {
  RunRules rules = PlainRules();
  rules.queue_delay = run::UniformDelay{minutes(10), hours(10)};
  Bench b(rules, WithScheduling(hours(20), {}));
  b.saved = b.run.Record();  // as created
  b.Feed(Submitted{});
  const Instant until = b.timers.at({TimerKind::kQueueOver, {}}).at;
  b.rules.seed = 99;
  b.now += minutes(5);
  b.KillEmulator();
  EXPECT_EQ(b.State(), JobState::kQueued);
  EXPECT_EQ(b.timers.at({TimerKind::kQueueOver, {}}).at, until);
  EXPECT_EQ(b.timers.at({TimerKind::kMaxWait, {}}).at, kMorning + hours(20));
  EXPECT_THAT(b.Last(), Contains("enqueue"));
}

TEST(Recovery, APreparingJobPreparesAgain) {
  Bench b;
  b.Feed(Submitted{});
  b.Grant();
  b.KillEmulator();
  EXPECT_EQ(b.State(), JobState::kPreparing);
  EXPECT_THAT(b.Last(), Contains("enqueue resumed"));
  EXPECT_THAT(b.Last(), Contains("become ready"));
  b.Grant();
  EXPECT_THAT(b.Last(), Contains("prepare packages attempt 1"));
  b.Prepare();
  b.StartAll();
  EXPECT_EQ(b.State(), JobState::kRunning);
}

TEST(Recovery, ARunningJobHasLostAllItsMachinesAndReadsTheSameEnvironment) {
  Bench b;
  b.UntilRunning();
  const Instant started = *b.run.job().start_time;
  b.KillEmulator();
  EXPECT_EQ(b.State(), JobState::kRunning);
  EXPECT_EQ(b.timers.at({TimerKind::kMaxRunning, {}}).at, started + hours(7 * 24));
  b.Grant();
  b.Prepare();
  for (run::ReplicaId id : kAll) {
    ASSERT_EQ(b.launches[id].size(), 2u);
    EXPECT_EQ(b.launches[id][1].key.boot, 2);
    EXPECT_TRUE(b.launches[id][1].fresh_disk);
    EXPECT_EQ(b.launches[id][0].environment, b.launches[id][1].environment);
    EXPECT_EQ(b.run.note().replicas.at(id).restarts, 1);
  }
  b.StartAll();
  EXPECT_EQ(b.State(), JobState::kRunning);
  EXPECT_EQ(b.run.job().start_time, started);
  b.Exit(kMasterId);
  for (run::ReplicaId id : {kWorker0, kWorker1, kPs}) b.Exit(id, 0, SIGTERM);
  EXPECT_EQ(b.State(), JobState::kSucceeded);
}

TEST(Recovery, AWorkerThatHadFinishedIsNotStartedAgain) {
  Bench b;
  b.UntilRunning();
  b.Exit(kWorker1);
  b.KillEmulator();
  b.Grant();
  b.Prepare();
  EXPECT_EQ(b.launches[kWorker1].size(), 1u);
  EXPECT_EQ(b.launches[kWorker0].size(), 2u);
}

// The kill may fall between any two saves of one event.
TEST(Recovery, AMasterThatHadFinishedEndsTheJobWhateverWasSavedBehindIt) {
  Bench early;
  early.Feed(Submitted{});
  early.Grant();
  early.Prepare();
  early.Start(kMasterId);
  early.Exit(kMasterId);
  ASSERT_EQ(early.State(), JobState::kPreparing);
  early.KillEmulator();
  EXPECT_EQ(early.State(), JobState::kSucceeded);
  EXPECT_TRUE(early.run.job().start_time);

  Bench late;
  late.Feed(Submitted{});
  late.Grant();
  late.Prepare();
  for (run::ReplicaId id : {kMasterId, kWorker0, kWorker1}) late.Start(id);
  late.Exit(kMasterId);
  late.Start(kPs);
  for (const Effect& effect : late.last) {  // only the first of its saves was done
    if (const auto* save = std::get_if<SaveJob>(&effect)) {
      late.saved = save->record;
      break;
    }
  }
  ASSERT_EQ(late.saved.job.state, JobState::kRunning);
  late.KillEmulator();
  EXPECT_EQ(late.State(), JobState::kSucceeded);
}

TEST(Recovery, OneKillTooManyRetriesTheWholeJob) {
  Bench b;
  b.UntilRunning();
  for (int kill = 1; kill <= 6; ++kill) {
    b.KillEmulator();
    EXPECT_EQ(b.run.note().attempt, kill <= 5 ? 1 : 2);
    b.Grant();
    b.Prepare();
    if (kill <= 5) b.StartAll();
  }
  EXPECT_EQ(b.run.note().attempt, 2);
  EXPECT_EQ(b.State(), JobState::kPreparing);
  EXPECT_EQ(b.run.note().replicas.at(kMasterId).restarts, 0);
}

TEST(Recovery, ADecidedOutcomeStands) {
  Bench success;
  success.UntilRunning();
  success.Exit(kMasterId);
  success.KillEmulator();
  EXPECT_EQ(success.State(), JobState::kSucceeded);

  Bench failure;
  failure.UntilRunning();
  failure.Exit(kWorker0, 3);
  failure.KillEmulator();
  EXPECT_EQ(failure.State(), JobState::kFailed);
  EXPECT_THAT(failure.run.job().error_message, HasSubstr("status of 3"));

  Bench cancelled;
  cancelled.UntilRunning();
  cancelled.Feed(CancelAsked{"because"});
  cancelled.KillEmulator();
  EXPECT_EQ(cancelled.State(), JobState::kCancelled);
  EXPECT_EQ(cancelled.run.job().error_message, "because");
}

TEST(Recovery, ANoteThatCannotBeReadStartsTheReplicasAnew) {
  Bench b;
  b.UntilRunning();
  b.saved.note = Json("garbage");
  b.KillEmulator();
  EXPECT_EQ(b.State(), JobState::kRunning);
  b.Grant();
  b.Prepare();
  EXPECT_EQ(b.launches[kMasterId].size(), 2u);
}

TEST(Recovery, ANoteThatCannotBeReadKeepsTheProgramOfAnImage) {
  Bench b(PlainRules(), AContainerJob("gcr.io/p/trainer:v2"),
          {{"gcr.io/p/trainer:v2", {{"/bin/train"}}}});
  b.Feed(Submitted{});
  b.Grant();
  b.StartAll();
  b.saved.note = Json("garbage");
  b.KillEmulator();
  b.Grant();
  ASSERT_EQ(b.launches[kMasterId].size(), 2u);
  EXPECT_EQ(b.launches[kMasterId].back().Argv().front(), "/bin/train");
}

}  // namespace
}  // namespace caip::engine
