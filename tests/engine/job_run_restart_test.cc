// Replicas that end and start again, and the whole job with them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/run_bench.h"

namespace caip::engine {
namespace {

using run::JobState;
using std::chrono::minutes;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(JobRun, RestartsAKilledReplicaOnItsDiskWithTheSameEnvironment) {
  Bench b;
  b.UntilRunning();
  b.Exit(kWorker1, 0, SIGKILL);
  ASSERT_EQ(b.launches[kWorker1].size(), 2u);
  const ReplicaLaunch& first = b.launches[kWorker1][0];
  const ReplicaLaunch& second = b.launches[kWorker1][1];
  EXPECT_TRUE(first.fresh_disk);
  EXPECT_FALSE(second.fresh_disk);
  EXPECT_EQ(first.environment, second.environment);
  EXPECT_EQ(first.Argv(), second.Argv());
  EXPECT_EQ(second.key.boot, 2);
  EXPECT_EQ(b.State(), JobState::kRunning);
}

struct Loss {
  VmLoss kind;
  const char* asked;
  bool fresh_disk;
};

TEST(JobRun, RestartsAReplicaWhoseMachineIsLost) {
  const Loss kLosses[] = {{VmLoss::kKill, "kill worker-replica-0 boot 1", true},
                          {VmLoss::kCrash, "kill worker-replica-0 boot 1", false},
                          {VmLoss::kMaintenance, "signal 15 to worker-replica-0 boot 1", true}};
  for (const Loss& loss : kLosses) {
    Bench b;
    b.UntilRunning();
    b.Feed(VmLost{kWorker0, loss.kind});
    EXPECT_THAT(b.Last(), Contains(loss.asked));
    b.Exit(kWorker0, 0, loss.kind == VmLoss::kMaintenance ? SIGTERM : SIGKILL);
    ASSERT_EQ(b.launches[kWorker0].size(), 2u);
    EXPECT_EQ(b.launches[kWorker0][1].fresh_disk, loss.fresh_disk);
    EXPECT_EQ(b.launches[kWorker0][0].environment, b.launches[kWorker0][1].environment);
    EXPECT_EQ(b.State(), JobState::kRunning);
  }
}

TEST(JobRun, MaintenanceKillsAfterTheGrace) {
  Bench b;
  b.UntilRunning();
  b.Feed(VmLost{kWorker0, VmLoss::kMaintenance});
  b.Fire(TimerKind::kGraceOver, kWorker0);
  EXPECT_THAT(b.Last(), ElementsAre("kill worker-replica-0 boot 1"));
}

TEST(JobRun, AReplicaThatWasFasterThanTheKillHasEndedByItself) {
  Bench b;
  b.UntilRunning();
  b.Feed(VmLost{kMasterId, VmLoss::kKill});
  b.Exit(kMasterId, 0);
  EXPECT_THAT(b.all, Contains("log service: Tearing down training program."));
  EXPECT_EQ(b.launches[kMasterId].size(), 1u);
}

TEST(JobRun, UnderMaintenanceAZeroIsNoSuccess) {
  Bench b;
  b.UntilRunning();
  b.Feed(VmLost{kMasterId, VmLoss::kMaintenance});
  b.Exit(kMasterId, 0);
  EXPECT_EQ(b.launches[kMasterId].size(), 2u);
}

TEST(JobRun, ALateExitOfAnEarlierBootChangesNothing) {
  Bench b;
  b.UntilRunning();
  b.Exit(kMasterId, 0, SIGKILL);
  b.Feed(ReplicaExit{b.Key(kMasterId, 1), 0, 0, false, "", ""});
  EXPECT_THAT(b.Last(), IsEmpty());
  b.Feed(ReplicaExit{b.Key(kMasterId, 1), 1, 0, false, "", ""});
  EXPECT_THAT(b.Last(), IsEmpty());
  b.Feed(ReplicaStarted{b.Key(kMasterId, 1)});
  EXPECT_THAT(b.Last(), IsEmpty());
  EXPECT_EQ(b.State(), JobState::kRunning);
}

TEST(JobRun, RestartsAReplicaFiveTimesThenRetriesTheJobThreeTimesThenFails) {
  Bench b;
  b.Feed(Submitted{});
  b.Grant();
  for (int attempt = 1; attempt <= 4; ++attempt) {
    b.Prepare();
    b.StartAll();
    EXPECT_EQ(b.State(), JobState::kRunning);
    for (int restart = 1; restart <= 5; ++restart) {
      b.Exit(kWorker0, 0, SIGKILL);
      EXPECT_EQ(b.run.note().attempt, attempt);
    }
    b.Exit(kWorker0, 0, SIGKILL);
    if (attempt < 4) {
      EXPECT_EQ(b.State(), JobState::kPreparing) << "visible from outside";
    }
    for (run::ReplicaId id : {kMasterId, kWorker1, kPs}) b.Exit(id, 0, SIGTERM);
  }
  EXPECT_EQ(b.launches[kWorker0].size(), 24u);
  EXPECT_EQ(b.launches[kMasterId].size(), 4u);
  EXPECT_EQ(b.State(), JobState::kFailed);
  EXPECT_THAT(b.run.job().error_message, HasSubstr("worker 0 exited with a non-zero status of "
                                                   "9(SIGKILL)"));
}

TEST(JobRun, ThatFailsBecauseAReplicaCouldNotBeStartedForAWhileNamesTheReason) {
  Bench b;
  b.Feed(Submitted{});
  b.Grant();
  const auto fail_to_start = [&b] {
    b.Feed(ReplicaExit{b.Key(kWorker0), 0, SIGKILL, false, "", "Too many open files", true});
  };
  for (int attempt = 1; attempt <= 4; ++attempt) {
    b.Prepare();
    for (int start = 1; start <= 6; ++start) fail_to_start();
    for (run::ReplicaId id : {kMasterId, kWorker1, kPs}) b.Exit(id, 0, SIGTERM);
  }
  EXPECT_EQ(b.launches[kWorker0].size(), 24u);
  EXPECT_EQ(b.State(), JobState::kFailed);
  EXPECT_THAT(b.run.job().error_message,
              HasSubstr("worker 0 could not be started: Too many open files"));
}

TEST(JobRun, AnAbortedOrFaultingReplicaRetriesTheWholeJobOnFreshDisks) {
  Bench b;
  b.UntilRunning();
  const Instant started = *b.run.job().start_time;
  b.Exit(kWorker0, 0, SIGSEGV);
  EXPECT_EQ(b.State(), JobState::kPreparing);
  EXPECT_EQ(b.run.note().attempt, 2);
  EXPECT_THAT(b.Last(), Not(Contains(HasSubstr("launch"))));
  for (run::ReplicaId id : {kMasterId, kWorker1, kPs}) b.Exit(id, 0, SIGTERM);
  EXPECT_THAT(b.Last(), Contains("prepare packages attempt 2"));
  b.now += minutes(3);
  b.Prepare();
  b.StartAll();
  EXPECT_EQ(b.State(), JobState::kRunning);
  EXPECT_EQ(b.run.job().start_time, started);
  EXPECT_TRUE(b.launches[kMasterId][1].fresh_disk);
  EXPECT_EQ(b.launches[kMasterId][1].environment, b.launches[kMasterId][0].environment);
}

TEST(JobRun, ResilientToWorkerRestartRetriesTheWholeJob) {
  ml::Job job = AJob("j");
  job.training_input->scheduling.emplace().resilient_to_worker_restart = true;
  Bench b(PlainRules(), job);
  b.UntilRunning();
  b.Feed(VmLost{kWorker0, VmLoss::kKill});
  b.Exit(kWorker0, 0, SIGKILL);
  EXPECT_EQ(b.State(), JobState::kPreparing);
  EXPECT_EQ(b.run.note().attempt, 2);
}

TEST(JobRun, ResilientToWorkerRestartRetriesAlsoIfAPeerFailsBeforeTheLostReplicaHasEnded) {
  ml::Job job = AJob("j");
  for (const bool resilient : {true, false}) {
    job.training_input->scheduling.emplace().resilient_to_worker_restart = resilient;
    Bench b(PlainRules(), job);
    b.UntilRunning();
    b.Feed(VmLost{kWorker0, VmLoss::kKill});
    b.Exit(kMasterId, 1);
    EXPECT_EQ(b.run.note().attempt, resilient ? 2 : 1);
    for (run::ReplicaId id : {kWorker0, kWorker1, kPs}) b.Exit(id, 0, SIGKILL);
    EXPECT_EQ(b.State(), resilient ? JobState::kPreparing : JobState::kFailed);
  }
}

TEST(JobRun, APeerOfACrashedReplicaDoesNotFailTheJobBeforeTheCrashIsSeen) {
  ml::Job job = AJob("j");
  job.training_input->scheduling.emplace().resilient_to_worker_restart = true;
  Bench b(PlainRules(), job);
  b.UntilRunning();
  b.Feed(VmLost{kWorker0, VmLoss::kCrash});
  b.Exit(kMasterId, 1);
  EXPECT_EQ(b.run.note().attempt, 2);
  EXPECT_THAT(b.all, Not(Contains(HasSubstr("lost"))));
}

TEST(JobRun, ResilientToWorkerRestartDoesNotRetryAFailureWithoutALoss) {
  ml::Job job = AJob("j");
  job.training_input->scheduling.emplace().resilient_to_worker_restart = true;
  Bench b(PlainRules(), job);
  b.UntilRunning();
  b.Exit(kMasterId, 1);
  for (run::ReplicaId id : {kWorker0, kWorker1, kPs}) b.Exit(id, 0, SIGTERM);
  EXPECT_EQ(b.State(), JobState::kFailed);
}

TEST(JobRun, APreparationOfAnEarlierAttemptChangesNothing) {
  Bench b;
  b.UntilRunning();
  b.Exit(kMasterId, 0, SIGABRT);
  for (run::ReplicaId id : {kWorker0, kWorker1, kPs}) b.Exit(id, 0, SIGTERM);
  b.Feed(Prepared{b.run.key(), 1, "/old/python", {}, "", {}});
  EXPECT_THAT(b.Last(), IsEmpty());
}

}  // namespace
}  // namespace caip::engine
