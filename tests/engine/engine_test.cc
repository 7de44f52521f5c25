// The whole engine in a small world: requests in, jobs through their lives.

#include "engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/simulated_engine.h"

namespace caip::engine {
namespace {

using run::JobState;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const run::ReplicaId kMasterReplica{"master", 0};
const run::ReplicaId kFirstWorker{"worker", 0};

// A master that runs for `time`; all other replicas run until they are stopped.
auto MasterRunsFor(Duration time) {
  return [time](const ReplicaLaunch& launch) {
    Script script;
    script.run_for = launch.key.replica == kMasterReplica ? time : kForever;
    return script;
  };
}

ml::Job AGpuJob(const std::string& id, int64_t count, int priority = 0) {
  ml::Job job = AJob(id, 0, 0);
  job.training_input->master.config.emplace().accelerator_config = {count, "NVIDIA_TESLA_T4"};
  job.training_input->scheduling.emplace().priority = priority;
  return job;
}

TEST(Engine, RunsAJobToItsEndAndGivesEverythingBack) {
  SimulatedEngine world;
  world.launcher.script = MasterRunsFor(minutes(5));
  world.Boot();
  const auto job = world.Submit(AJob("j"));
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(job->state, JobState::kQueued);
  EXPECT_EQ(job->create_time, kMorning);
  EXPECT_EQ(job->etag.size(), 8u);
  EXPECT_EQ(job->job_position, 1);
  EXPECT_FALSE(world.engine->Idle());
  world.RunUntilIdle();
  const ml::Job done = world.JobOf("j");
  EXPECT_EQ(done.state, JobState::kSucceeded);
  EXPECT_GE(*done.end_time, kMorning + minutes(5));
  EXPECT_EQ(done.job_position, 0);
  EXPECT_TRUE(world.engine->Idle());
  EXPECT_EQ(world.devices.lent(), 0u);
  EXPECT_EQ(world.addresses.lent(), 0u);
  EXPECT_EQ(world.clock.holders(), 0);
  EXPECT_TRUE(world.launcher.Discarded({"p", "j", ""}));
  EXPECT_THAT(world.log.Of("j", "service"), Contains("Job completed successfully."));
}

TEST(Engine, HoldsTheClockWhileAReplicaLivesOrPackagesAreInstalled) {
  SimulatedEngine world;
  world.options.rules.queue_delay = run::ConstantDelay{minutes(20)};
  world.options.rules.provisioning_delay = run::ConstantDelay{minutes(4)};
  world.packager.takes = seconds(30);
  world.launcher.script = MasterRunsFor(minutes(1));
  world.Boot();
  ASSERT_TRUE(world.Submit(AJob("j")).ok());
  EXPECT_EQ(world.clock.holders(), 0) << "the queue may be leapt over";
  world.RunUntilState("j", JobState::kPreparing);
  EXPECT_EQ(world.clock.Now(), kMorning + minutes(20));
  EXPECT_EQ(world.clock.holders(), 0) << "so may the wait for machines";
  world.RunUntil([&] { return world.packager.working() > 0; });
  EXPECT_EQ(world.clock.holders(), 1);
  world.RunUntilState("j", JobState::kRunning);
  EXPECT_EQ(world.clock.holders(), 4);
  world.RunUntilIdle();
  EXPECT_EQ(world.clock.holders(), 0);
}

TEST(Engine, AnIdTakenByAFinishedJobStaysTaken) {
  SimulatedEngine world;
  world.Boot();
  ASSERT_TRUE(world.Submit(AJob("j")).ok());
  EXPECT_EQ(world.Submit(AJob("j")).error().code, Code::kAlreadyExists);
  world.RunUntilIdle();
  EXPECT_EQ(world.Submit(AJob("j")).error().code, Code::kAlreadyExists);
}

TEST(Engine, IgnoresWhatAClientMayNotSet) {
  SimulatedEngine world;
  world.Boot();
  ml::Job job = AJob("j");
  job.state = JobState::kSucceeded;
  job.end_time = kMorning;
  job.error_message = "mine";
  job.labels = {{"team", "a"}};
  const auto created = world.Submit(job);
  EXPECT_EQ(created->state, JobState::kQueued);
  EXPECT_FALSE(created->end_time);
  EXPECT_EQ(created->error_message, "");
  EXPECT_EQ(created->labels.at("team"), "a");
}

TEST(Engine, StartsByPriorityThenAgeAndTellsThePlaceInTheQueue) {
  SimulatedEngine world;
  world.devices.stock = {{"NVIDIA_TESLA_T4", 2}};
  world.launcher.script = MasterRunsFor(minutes(10));
  world.Boot();
  ASSERT_TRUE(world.Submit(AGpuJob("holder", 2)).ok());
  world.RunUntilState("holder", JobState::kRunning);
  for (const auto& [id, priority] : {std::pair("low", 1), {"high", 9}, {"lower", 0}}) {
    ASSERT_TRUE(world.Submit(AGpuJob(id, 1, priority)).ok());
  }
  EXPECT_EQ(world.JobOf("high").job_position, 1);
  EXPECT_EQ(world.JobOf("low").job_position, 2);
  EXPECT_EQ(world.JobOf("lower").job_position, 3);
  ASSERT_TRUE(world.Submit(AJob("cpu")).ok());
  world.RunUntilState("cpu", JobState::kRunning);
  EXPECT_EQ(world.JobOf("high").state, JobState::kQueued) << "CPU jobs do not wait for GPU jobs";
  world.RunUntilState("high", JobState::kRunning);
  EXPECT_EQ(world.JobOf("holder").state, JobState::kSucceeded);
  world.RunUntilState("low", JobState::kRunning);
  EXPECT_EQ(world.JobOf("lower").job_position, 1);
  world.RunUntilIdle();
  EXPECT_EQ(world.JobOf("lower").state, JobState::kSucceeded);
}

TEST(Engine, RefusedDevicesFailTheJob) {
  SimulatedEngine world;
  world.devices.never = true;
  world.Boot();
  ASSERT_TRUE(world.Submit(AGpuJob("j", 4)).ok());
  EXPECT_EQ(world.JobOf("j").state, JobState::kFailed);
  EXPECT_THAT(world.JobOf("j").error_message, HasSubstr("4 of NVIDIA_TESLA_T4"));
}

TEST(Engine, KeepsToTheMostJobsAtOnce) {
  SimulatedEngine world;
  world.options.jobs_max = 1;
  world.launcher.script = MasterRunsFor(minutes(1));
  world.Boot();
  ASSERT_TRUE(world.Submit(AJob("a")).ok());
  ASSERT_TRUE(world.Submit(AJob("b")).ok());
  world.RunUntilState("a", JobState::kRunning);
  EXPECT_EQ(world.JobOf("b").state, JobState::kQueued);
  world.RunUntilState("b", JobState::kRunning);
  EXPECT_EQ(world.JobOf("a").state, JobState::kSucceeded);
}

TEST(Engine, CancelsInEveryStateAndAFinishedJobIsLeftAlone) {
  SimulatedEngine world;
  world.options.rules.queue_delay = run::ConstantDelay{minutes(1)};
  world.packager.takes = seconds(10);
  world.launcher.script = MasterRunsFor(hours(1));
  world.Boot();
  for (JobState state : {JobState::kQueued, JobState::kPreparing, JobState::kRunning}) {
    const std::string id = "j" + std::to_string(static_cast<int>(state));
    ASSERT_TRUE(world.Submit(AJob(id)).ok());
    ASSERT_TRUE(world.RunUntilState(id, state));
    EXPECT_TRUE(world.Cancel(id).ok());
    EXPECT_TRUE(world.Cancel(id).ok()) << "again";
    world.RunUntilIdle();
    EXPECT_EQ(world.JobOf(id).state, JobState::kCancelled);
    EXPECT_EQ(world.JobOf(id).start_time.has_value(), state == JobState::kRunning);
    EXPECT_TRUE(world.JobOf(id).end_time);
    EXPECT_EQ(world.JobOf(id).error_message, "The job was cancelled by the user.");
    EXPECT_TRUE(world.Cancel(id).ok()) << "of a finished job";
    EXPECT_EQ(world.JobOf(id).state, JobState::kCancelled);
  }
  EXPECT_EQ(world.Cancel("nobody").error().code, Code::kNotFound);
}

TEST(Engine, KillsWhoDoesNotObeySigtermAfterTheGrace) {
  SimulatedEngine world;
  world.options.rules.grace = seconds(7);
  world.launcher.script = [](const ReplicaLaunch&) {
    return Script{.run_for = kForever, .sigterm_takes = kForever};
  };
  world.Boot();
  ASSERT_TRUE(world.Submit(AJob("j")).ok());
  world.RunUntilState("j", JobState::kRunning);
  const Instant asked = world.clock.Now();
  ASSERT_TRUE(world.Cancel("j").ok());
  world.RunUntilIdle();
  EXPECT_GE(*world.JobOf("j").end_time, asked + seconds(7));
  EXPECT_LT(*world.JobOf("j").end_time, asked + seconds(8));
}

TEST(Engine, MaxWaitTimeOfHalfAnHourCostsNothing) {
  SimulatedEngine world;
  world.options.rules.queue_delay = run::ConstantDelay{hours(3)};
  world.Boot();
  ml::Job job = AJob("j");
  job.training_input->scheduling.emplace().max_wait_time = minutes(30);
  ASSERT_TRUE(world.Submit(job).ok());
  world.RunUntilIdle();
  EXPECT_EQ(world.JobOf("j").state, JobState::kCancelled);
  EXPECT_EQ(world.JobOf("j").end_time, kMorning + minutes(30));
  EXPECT_EQ(world.clock.Now(), kMorning + minutes(30)) << "no stale timer is waited for";
}

TEST(Engine, AReplicaWhoseMachineIsTakenAwayStartsAgain) {
  SimulatedEngine world;
  world.launcher.script = MasterRunsFor(minutes(5));
  world.Boot();
  ASSERT_TRUE(world.Submit(AJob("j")).ok());
  EXPECT_EQ(world.LoseVm("j", kFirstWorker, VmLoss::kKill).error().code, Code::kFailedPrecondition);
  world.RunUntilState("j", JobState::kRunning);
  EXPECT_TRUE(world.LoseVm("j", kFirstWorker, VmLoss::kKill).ok());
  EXPECT_EQ(world.LoseVm("j", {"worker", 9}, VmLoss::kKill).error().code,
            Code::kFailedPrecondition);
  EXPECT_EQ(world.LoseVm("none", kFirstWorker, VmLoss::kKill).error().code, Code::kNotFound);
  world.RunUntilIdle();
  EXPECT_EQ(world.JobOf("j").state, JobState::kSucceeded);
  EXPECT_EQ(world.launcher.launches(), 5u);
  EXPECT_THAT(world.log.Of("j", "service"), Contains(HasSubstr("The machine of worker 0 is lost")));
}

TEST(Engine, WhatTheStoreDoesNotTakeHasNoConsequences) {
  SimulatedEngine world;
  world.options.rules.queue_delay = run::ConstantDelay{seconds(10)};
  world.launcher.script = MasterRunsFor(minutes(5));
  world.Boot();
  bool full = false;
  world.store.refuse = [&]() -> std::optional<Error> {
    if (!full) return std::nullopt;
    return Error{Code::kResourceExhausted, "disk full"};
  };
  full = true;
  EXPECT_EQ(world.Submit(AJob("never")).error().code, Code::kResourceExhausted);
  EXPECT_TRUE(world.engine->Idle());
  full = false;
  ASSERT_TRUE(world.Submit(AJob("j")).ok());
  full = true;
  world.RunFor(minutes(1));
  EXPECT_EQ(world.launcher.launches(), 0u);
  EXPECT_EQ(world.JobOf("j").state, JobState::kQueued) << "as it was saved last";
  EXPECT_GT(world.clock.holders(), 0) << "the wait for the disk is a real one";
  EXPECT_EQ(world.Cancel("j").error().code, Code::kUnavailable);
  full = false;
  world.RunUntilIdle();
  EXPECT_EQ(world.JobOf("j").state, JobState::kCancelled);
  EXPECT_EQ(world.clock.holders(), 0);
}

TEST(Engine, TellsObserversOfEverySaveUntilTheyLeave) {
  SimulatedEngine world;
  world.launcher.script = MasterRunsFor(minutes(5));
  world.Boot();
  std::vector<std::string> seen;
  auto watch = world.engine->Watch([&](const run::Job& job) {
    const std::string text =
        job.key.project + "/" + job.key.job_id + " " + std::string(Name(job.state));
    if (seen.empty() || seen.back() != text) seen.push_back(text);
  });
  ASSERT_TRUE(world.Submit(AJob("j")).ok());
  world.RunUntilIdle();
  EXPECT_THAT(seen, ElementsAre("p/j QUEUED", "p/j PREPARING", "p/j RUNNING", "p/j SUCCEEDED"));
  watch.End();
  ASSERT_TRUE(world.Submit(AJob("k")).ok());
  EXPECT_EQ(seen.size(), 4u);
}

TEST(Engine, GoesOnAfterItsProcessWasKilledAndTheStoreKnowsAll) {
  SimulatedEngine world;
  world.options.rules.queue_delay = run::ConstantDelay{minutes(2)};
  world.launcher.script = MasterRunsFor(minutes(5));
  std::map<run::ReplicaId, std::set<std::string>> tf_configs;
  world.launcher.on_launch = [&](const ReplicaLaunch& launch) {
    for (const auto& [name, value] : launch.environment) {
      if (name == "TF_CONFIG") tf_configs[launch.key.replica].insert(value);
    }
  };
  world.Boot();
  ASSERT_TRUE(world.Submit(AJob("runs")).ok());
  world.RunUntilState("runs", JobState::kRunning);
  ASSERT_TRUE(world.Submit(AJob("waits")).ok());
  world.KillEmulator();
  world.clock.MoveTo(world.clock.Now() + seconds(90));
  world.Boot();
  EXPECT_EQ(world.JobOf("runs").state, JobState::kRunning);
  EXPECT_EQ(world.JobOf("waits").state, JobState::kQueued);
  EXPECT_EQ(world.JobOf("waits").job_position, 1);
  world.RunUntilState("waits", JobState::kRunning);
  EXPECT_EQ(tf_configs.size(), 4u);
  world.RunUntilIdle();
  EXPECT_EQ(world.JobOf("runs").state, JobState::kSucceeded);
  EXPECT_EQ(world.JobOf("waits").state, JobState::kSucceeded);
  // Of each replica one text a job, however often it started.
  for (const auto& [id, texts] : tf_configs) EXPECT_EQ(texts.size(), 2u) << run::Name(id);
}

TEST(Engine, ShowsNoTimeBeforeEarlierOnesAfterAClockThatWasAheadIsLost) {
  SimulatedEngine world;
  world.options.rules.queue_delay = run::ConstantDelay{hours(2)};
  world.launcher.script = MasterRunsFor(minutes(5));
  world.Boot();
  ASSERT_TRUE(world.Submit(AJob("runs")).ok());
  world.RunUntilState("runs", JobState::kRunning);
  const Instant started = *world.JobOf("runs").start_time;
  world.KillEmulator();
  world.clock.FallBackTo(kMorning + minutes(1));
  world.Boot();
  const auto later = world.Submit(AJob("later"));
  ASSERT_TRUE(later.ok());
  EXPECT_GE(*later->create_time, started);
  world.RunUntilIdle();
  const ml::Job ran = world.JobOf("runs");
  EXPECT_EQ(ran.state, JobState::kSucceeded);
  EXPECT_GE(*ran.end_time, *ran.start_time);
}

TEST(Engine, ATpuIsAskedForOnBehalfOfTheMaster) {
  SimulatedEngine world;
  world.Boot();
  ml::Job job = AJob("j", 0, 0);
  job.training_input->scale_tier = "BASIC_TPU";
  job.training_input->master.machine_type.clear();
  ASSERT_TRUE(world.Submit(job).ok());
  EXPECT_EQ(world.JobOf("j").state, JobState::kQueued) << "there is none";
  world.devices.stock = {{"TPU_V2", 8}};
  ASSERT_TRUE(world.Submit(AJob("other", 0, 0)).ok());
  world.RunUntilIdle();  // `other` gives its devices back, so the TPU is tried again
  EXPECT_EQ(world.JobOf("j").state, JobState::kSucceeded);
}

}  // namespace
}  // namespace caip::engine
