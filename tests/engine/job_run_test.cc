// One run, fed with events by hand: no process, no clock, no threads.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/run_bench.h"

namespace caip::engine {
namespace {

using run::JobState;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(JobRun, WalksFromQueuedToSucceeded) {
  Bench b;
  b.Feed(Submitted{});
  EXPECT_EQ(b.State(), JobState::kQueued);
  EXPECT_THAT(b.Last(), Contains("become ready"));
  b.Grant();
  EXPECT_EQ(b.State(), JobState::kPreparing);
  EXPECT_THAT(b.Last(), Contains("prepare packages attempt 1"));
  b.Prepare();
  EXPECT_EQ(b.State(), JobState::kPreparing);
  b.now += seconds(5);
  b.StartAll();
  EXPECT_EQ(b.State(), JobState::kRunning);
  EXPECT_EQ(b.run.job().start_time, kMorning + seconds(5));
  EXPECT_FALSE(b.run.job().end_time);
  b.now += minutes(1);
  b.Exit(kMasterId);
  EXPECT_EQ(b.State(), JobState::kRunning) << "the others still live";
  b.Exit(kWorker0, 0, SIGTERM);
  b.Exit(kWorker1, 0, SIGTERM);
  b.now += seconds(2);
  b.Exit(kPs, 0, SIGTERM);
  EXPECT_EQ(b.State(), JobState::kSucceeded);
  EXPECT_EQ(b.run.job().end_time, kMorning + seconds(5) + minutes(1) + seconds(2));
  EXPECT_EQ(b.run.job().error_message, "");
}

TEST(JobRun, LogsTheLinesOfARunInTheirOrder) {
  Bench b;
  b.UntilRunning();
  b.Exit(kMasterId);
  for (run::ReplicaId id : {kWorker0, kWorker1, kPs}) b.Exit(id, 0, SIGTERM);
  std::vector<std::string> service, master, worker;
  for (const std::string& text : b.all) {
    if (text.starts_with("log service: ")) service.push_back(text.substr(13));
    if (text.starts_with("log master-replica-0: ")) master.push_back(text.substr(22));
    if (text.starts_with("log worker-replica-0: ")) worker.push_back(text.substr(22));
  }
  EXPECT_THAT(
      service,
      ElementsAre("Validating job requirements...",
                  "Job creation request has been successfully validated.", "Job j is queued.",
                  "Waiting for job to be provisioned.", HasSubstr("seed"), "Job is preparing.",
                  "Waiting for training program to start.", "Job is running.",
                  "Tearing down training program.", "Finished tearing down training program.",
                  "Job completed successfully."));
  EXPECT_THAT(master, ElementsAre(HasSubstr("Running task with arguments: --cluster="),
                                  "Running module trainer.task.",
                                  "Running command: python3 -m trainer.task --epochs 2 --job-dir "
                                  "gs://bucket/out",
                                  "Module completed; cleaning up.", "Clean up finished.",
                                  "Task completed successfully."));
  EXPECT_THAT(worker.back(), HasSubstr("Terminated by service."));
}

TEST(JobRun, SavesBeforeItActs) {
  Bench b;
  b.Feed(Submitted{});
  b.Grant();
  EXPECT_EQ(b.Last().front(), "save PREPARING");
  b.Prepare();
  EXPECT_EQ(b.Last().front(), "save PREPARING");
  EXPECT_THAT(b.Last().back(), HasSubstr("launch ps-replica-0 boot 1"));
  b.StartAll();
  b.Exit(kWorker0, 0, SIGKILL);
  const auto texts = b.Last();
  const auto save = std::find(texts.begin(), texts.end(), "save RUNNING");
  const auto launch =
      std::find(texts.begin(), texts.end(), "launch worker-replica-0 boot 2 kept disk");
  ASSERT_NE(launch, texts.end());
  EXPECT_LT(save, launch);
}

TEST(JobRun, EndsTheLogAndFlushesItBeforeItShowsTheEnd) {
  Bench b;
  b.UntilRunning();
  b.Exit(kMasterId);
  for (run::ReplicaId id : {kWorker0, kWorker1, kPs}) b.Exit(id, 0, SIGTERM);
  const auto texts = b.Last();
  const size_t count = texts.size();
  ASSERT_GE(count, 5u);
  EXPECT_EQ(texts[count - 5], "log service: Job completed successfully.");
  EXPECT_EQ(texts[count - 4], "flush log");
  EXPECT_EQ(texts[count - 3], "save SUCCEEDED");
  EXPECT_EQ(texts[count - 2], "return resources");
  EXPECT_EQ(texts[count - 1], "forget");
}

TEST(JobRun, WhoseLastReplicaEndsStoresItsEndOnce) {
  Bench b;
  b.UntilRunning();
  for (run::ReplicaId id : {kWorker0, kWorker1, kPs}) b.Exit(id);
  b.Exit(kMasterId);
  const auto texts = b.Last();
  EXPECT_EQ(std::count(texts.begin(), texts.end(), "flush log"), 1);
  EXPECT_EQ(std::count_if(texts.begin(), texts.end(),
                          [](const std::string& text) { return text.starts_with("save"); }),
            1);
  EXPECT_THAT(texts, ::testing::Contains("save SUCCEEDED"));
}

TEST(JobRun, RunsOnlyWhenAllReplicasAreUp) {
  Bench b;
  b.Feed(Submitted{});
  b.Grant();
  b.Prepare();
  for (run::ReplicaId id : {kMasterId, kWorker0, kWorker1}) {
    b.Start(id);
    EXPECT_EQ(b.State(), JobState::kPreparing);
    EXPECT_FALSE(b.run.job().start_time);
  }
  b.Start(kPs);
  EXPECT_EQ(b.State(), JobState::kRunning);
}

TEST(JobRun, AMasterThatEndsBeforeAllAreUpStillLetsTheJobRunFirst) {
  Bench b;
  b.Feed(Submitted{});
  b.Grant();
  b.Prepare();
  b.Start(kMasterId);
  b.Exit(kMasterId);
  EXPECT_EQ(b.State(), JobState::kPreparing);
  for (run::ReplicaId id : {kWorker0, kWorker1, kPs}) b.Start(id);
  EXPECT_EQ(b.State(), JobState::kRunning);
  for (run::ReplicaId id : {kWorker0, kWorker1, kPs}) b.Exit(id, 0, SIGTERM);
  EXPECT_EQ(b.State(), JobState::kSucceeded);
  EXPECT_TRUE(b.run.job().start_time);
}

TEST(JobRun, GoesOnWhenAWorkerEndsWithZero) {
  Bench b;
  b.UntilRunning();
  b.Exit(kWorker0);
  b.Exit(kPs);
  EXPECT_EQ(b.State(), JobState::kRunning);
  EXPECT_EQ(b.launches[kWorker0].size(), 1u);
  b.Exit(kMasterId);
  b.Exit(kWorker1, 0, SIGTERM);
  EXPECT_EQ(b.State(), JobState::kSucceeded);
}

TEST(JobRun, IgnoresHowOthersEndBehindTheMastersSuccess) {
  Bench b;
  b.UntilRunning();
  b.Exit(kMasterId);
  b.Exit(kWorker0, 1);
  b.Exit(kWorker1, 0, SIGSEGV);
  b.Exit(kPs, 0, SIGKILL);
  EXPECT_EQ(b.State(), JobState::kSucceeded);
  EXPECT_EQ(b.run.job().error_message, "");
}

TEST(JobRun, FailsWhenUserCodeFailsAnywhere) {
  for (run::ReplicaId id : kAll) {
    Bench b;
    b.UntilRunning();
    b.Exit(id, 1, 0, "Traceback (most recent call last):\n  File \"t.py\"\nValueError: no\n");
    EXPECT_EQ(b.State(), JobState::kRunning);
    EXPECT_EQ(b.run.job().error_message, "") << "set only when the job ends";
    for (run::ReplicaId other : kAll) {
      if (other != id) b.Exit(other, 0, SIGTERM);
    }
    EXPECT_EQ(b.State(), JobState::kFailed);
    EXPECT_THAT(b.run.job().error_message,
                HasSubstr("The replica " + id.role + " " + std::to_string(id.index) +
                          " exited with a non-zero status of 1."));
    EXPECT_THAT(b.run.job().error_message, HasSubstr("ValueError: no"));
    EXPECT_THAT(b.all, Contains("log service: Job failed."));
    EXPECT_THAT(b.all, Not(Contains("log service: Job completed successfully.")));
  }
}

TEST(JobRun, StopsWithSigtermThenGraceThenSigkill) {
  Bench b;
  b.UntilRunning();
  b.Exit(kMasterId);
  for (run::ReplicaId id : {kWorker0, kWorker1, kPs}) {
    EXPECT_THAT(b.Last(), Contains("signal 15 to " + run::Name(id) + " boot 1"));
  }
  EXPECT_EQ(b.timers.at({TimerKind::kGraceOver, kPs}).at, b.now + seconds(30));
  b.Exit(kWorker0, 0, SIGTERM);
  b.Fire(TimerKind::kGraceOver, kPs);
  EXPECT_THAT(b.Last(), ElementsAre("kill ps-replica-0 boot 1"));
  EXPECT_FALSE(b.timers.contains({TimerKind::kGraceOver, kWorker0})) << "it is gone already";
}

TEST(JobRun, AReplicaThatCannotStartFailsTheJobWithTheReason) {
  Bench b;
  b.Feed(Submitted{});
  b.Grant();
  b.Prepare();
  b.Feed(ReplicaExit{b.Key(kPs), 127, 0, false, "", "No such file or directory"});
  for (run::ReplicaId id : {kMasterId, kWorker0, kWorker1}) b.Exit(id, 0, SIGTERM);
  EXPECT_EQ(b.State(), JobState::kFailed);
  EXPECT_THAT(b.run.job().error_message, HasSubstr("ps 0 could not be started: No such file"));
  EXPECT_FALSE(b.run.job().start_time);
}

TEST(JobRun, AFailedInstallationFailsTheJobWithPipsWords) {
  Bench b;
  b.Feed(Submitted{});
  b.Grant();
  Prepared failed{b.run.key(), 1, "", {}, "", Prepared::Failure{2, "ERROR: no such package", ""}};
  b.Feed(failed);
  EXPECT_EQ(b.State(), JobState::kFailed);
  EXPECT_THAT(b.run.job().error_message, HasSubstr("exited with a non-zero status of 2"));
  EXPECT_THAT(b.run.job().error_message, HasSubstr("no such package"));
  EXPECT_THAT(b.launches, IsEmpty());
}

TEST(JobRun, ARefusedPreparationGivesItsReason) {
  Bench b;
  b.Feed(Submitted{});
  b.Grant();
  b.Feed(Prepared{b.run.key(), 1, "", {}, "", Prepared::Failure{1, "", "No Python 2.7 here."}});
  EXPECT_EQ(b.State(), JobState::kFailed);
  EXPECT_EQ(b.run.job().error_message, "No Python 2.7 here.");
}

TEST(JobRun, DevicesThatWillNeverBeThereFailTheJob) {
  Bench b;
  b.Feed(Submitted{});
  b.Feed(Refused{"There are no 8 A100 here."});
  EXPECT_EQ(b.State(), JobState::kFailed);
  EXPECT_EQ(b.run.job().error_message, "There are no 8 A100 here.");
  EXPECT_THAT(b.all, Contains("leave queue"));
}

TEST(JobRun, AContainerRunsTheMappedCommandAndInstallsNothing) {
  Bench b(PlainRules(), AContainerJob("gcr.io/p/trainer:v2"),
          {{"gcr.io/p/trainer:v2", {{"/bin/train", "--now"}}}});
  b.Feed(Submitted{});
  b.Grant();
  EXPECT_THAT(b.Last(), Not(Contains(HasSubstr("prepare packages"))));
  ASSERT_EQ(b.launches[kMasterId].size(), 1u);
  EXPECT_THAT(b.launches[kMasterId][0].Argv(),
              ElementsAre("/bin/train", "--now", "--epochs", "2", "--job-dir", "gs://bucket/out"));
  b.StartAll();
  b.Exit(kWorker0, 137);
  EXPECT_EQ(b.launches[kWorker0].size(), 2u) << "128+9 is a kill";
}

TEST(JobRun, RunsTheSameCommandUnderAnEmulatorWithOtherSettings) {
  RunRules rules = PlainRules();
  rules.launch.storage_view = [](const std::string&) { return "/buckets/bucket/out"; };
  Bench b(rules, AContainerJob("gcr.io/p/trainer:v2"), {{"gcr.io/p/trainer:v2", {{"/bin/train"}}}});
  b.Feed(Submitted{});
  b.Grant();
  b.StartAll();
  b.rules.launch.storage_view = nullptr;
  b.KillEmulator();
  b.Grant();
  ASSERT_EQ(b.launches[kMasterId].size(), 2u);
  EXPECT_THAT(b.launches[kMasterId][1].Argv(),
              ElementsAre("/bin/train", "--epochs", "2", "--job-dir", "/buckets/bucket/out"));
  EXPECT_EQ(b.launches[kMasterId][0].environment, b.launches[kMasterId][1].environment);
}

TEST(JobRun, NamesMachinesWhereTheirNamesResolve) {
  const auto clusters = [](bool names_resolve) {
    RunRules rules = PlainRules();
    rules.launch.names_resolve = names_resolve;
    Bench b(rules, AContainerJob("gcr.io/p/trainer:v2"),
            {{"gcr.io/p/trainer:v2", {{"/bin/train"}}}});
    b.Feed(Submitted{});
    b.Grant();
    std::string text;
    for (const auto& [name, value] : b.launches[kMasterId][0].environment) {
      if (name == "TF_CONFIG" || name == "CLUSTER_SPEC") text += value;
    }
    const auto& peers = b.launches[kMasterId][0].machine.peers;
    EXPECT_NE(peers.at(0).host, peers.at(0).host_name) << "machines are found by their addresses";
    return std::pair(text, peers.at(0).host_name);
  };
  const auto [names, master] = clusters(true);
  EXPECT_THAT(names, HasSubstr("\"master\": [\"" + master + ":"));
  const auto [addresses, same_master] = clusters(false);
  EXPECT_THAT(addresses, Not(HasSubstr(same_master)));
}

}  // namespace
}  // namespace caip::engine
