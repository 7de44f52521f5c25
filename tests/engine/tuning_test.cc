// Tuning jobs in the small world: each trial is a cluster, and the job ends
// by their results.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "tests/engine/tuning_world.h"

namespace caip::engine {
namespace {

using run::JobState;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Variable(const ReplicaLaunch& launch, const std::string& name) {
  for (const auto& [variable, value] : launch.environment) {
    if (variable == name) return value;
  }
  return "(unset)";
}

TEST(Tuning, RunsItsTrialsAndNamesTheBestFirst) {
  Tuning t;
  const ml::Job job = t.Run(ATuningJob("j", 3));
  EXPECT_EQ(job.state, JobState::kSucceeded);
  EXPECT_EQ(job.error_message, "");
  ASSERT_TRUE(job.training_output);
  const ml::TrainingOutput& output = *job.training_output;
  EXPECT_TRUE(output.is_hyperparameter_tuning_job);
  EXPECT_EQ(output.hyperparameter_metric_tag, "accuracy");
  EXPECT_EQ(output.completed_trial_count, 3);
  EXPECT_THAT(t.TrialIds("j"), ElementsAre("3", "2", "1"));
  EXPECT_EQ(output.trials[0].final_metric, std::pair(int64_t{100}, 0.1 * 3));
  EXPECT_EQ(output.trials[0].state, JobState::kSucceeded);
  EXPECT_EQ(*output.trials[2].start_time, kMorning);
  EXPECT_EQ(*output.trials[2].end_time, kMorning + seconds(10));
  EXPECT_EQ(t.world.devices.lent(), 0u);
  EXPECT_EQ(t.world.addresses.lent(), 0u);
  EXPECT_EQ(t.world.clock.holders(), 0);
  EXPECT_TRUE(t.world.engine->Idle());
}

TEST(Tuning, OfMinimizationTheLeastComesFirstAndThoseWithoutMetricLast) {
  Tuning t;
  t.script = [](const ReplicaLaunch& launch) {
    Script does = Tuning::Usual(launch);
    if (TrialOf(launch) == 1) does.reports = {};
    if (TrialOf(launch) == 2) does.reports = {ReportAt(1, 1, std::nan(""))};
    return does;
  };
  ml::Job job = ATuningJob("j", 5, 5);
  job.training_input->hyperparameters->goal = "MINIMIZE";
  const ml::Job done = t.Run(std::move(job));
  EXPECT_THAT(t.TrialIds("j"), ElementsAre("3", "4", "5", "2", "1"));
  EXPECT_FALSE(done.training_output->trials[4].final_metric);
  EXPECT_EQ(done.training_output->completed_trial_count, 5);
}

TEST(Tuning, GivesEachTrialItsOwnArgumentsEnvironmentAndDisk) {
  Tuning t;
  const ml::Job job = t.Run(ATuningJob("j", 2, 2, 1));
  ASSERT_EQ(t.launches.size(), 4u);
  std::set<std::string> disks, clusters;
  for (const ReplicaLaunch& launch : t.launches) {
    const std::string trial = launch.key.run.trial;
    const std::string rate = t.Trial(job, trial).hyperparameters.at("rate");
    EXPECT_THAT(launch.Argv(),
                ElementsAre("/envs/e1/bin/python3", "-m", "trainer.task", "--epochs", "2", "--rate",
                            rate, "--job-dir", "gs://bucket/out/" + trial));
    EXPECT_EQ(Variable(launch, "CLOUD_ML_TRIAL_ID"), trial);
    EXPECT_EQ(Variable(launch, "CLOUD_ML_HP_METRIC_TAG"), "accuracy");
    const std::string disk = "/disks/p/j/trial-" + trial + "/" + run::Name(launch.key.replica);
    EXPECT_EQ(Variable(launch, "CLOUD_ML_HP_METRIC_FILE"), disk + "/var/hypertune/output.metric");
    const std::string tf_config = Variable(launch, "TF_CONFIG");
    EXPECT_THAT(tf_config, HasSubstr("\"trial\": \"" + trial + "\""));
    EXPECT_THAT(tf_config, HasSubstr("\"parameter_name\": \"rate\", \"type\": \"DOUBLE\", "
                                     "\"min_value\": 0.1, \"max_value\": 1"));
    EXPECT_EQ(launch.metrics.has_value(), launch.key.replica == kTrialMaster);
    disks.insert(Variable(launch, "HOME"));
    clusters.insert(launch.machine.host_name);
  }
  EXPECT_EQ(disks.size(), 4u);
  EXPECT_EQ(clusters.size(), 4u);
  EXPECT_EQ(t.launches[0].metrics->output_directory, "gs://bucket/out/1");
}

TEST(Tuning, AContainersClusterSpecHasTheTrial) {
  Tuning t;
  t.world.launcher.images = {{"gcr.io/p/i:v", {"/train"}}};
  ml::Job job = ATuningJob("j", 1);
  ml::TrainingInput& input = *job.training_input;
  input.package_uris.clear();
  input.python_module = input.runtime_version = input.python_version = "";
  input.master.config.emplace().image_uri = "gcr.io/p/i:v";
  EXPECT_EQ(t.Run(std::move(job)).state, JobState::kSucceeded);
  ASSERT_EQ(t.launches.size(), 1u);
  EXPECT_EQ(t.launches[0].Argv()[0], "/train");
  EXPECT_THAT(t.launches[0].Argv(), Contains("--rate"));
  EXPECT_THAT(Variable(t.launches[0], "CLUSTER_SPEC"), HasSubstr("\"trial\": \"1\""));
}

TEST(Tuning, InstallsOnceForAllTrials) {
  Tuning t;
  t.Run(ATuningJob("j", 5, 2));
  ASSERT_EQ(t.world.packager.requests().size(), 1u);
  EXPECT_EQ(t.world.packager.requests()[0].run.trial, "");
  EXPECT_EQ(t.launches.size(), 5u);
}

TEST(Tuning, HasSoManyTrialsAtATimeAndNoMore) {
  for (const int parallel : {1, 2, 4}) {
    Tuning t;
    t.Run(ATuningJob("j", 8, parallel));
    EXPECT_EQ(t.launches.size(), 8u);
    EXPECT_EQ(t.most_live, static_cast<size_t>(parallel));
  }
}

TEST(Tuning, HasNoMoreTrialsThanMaxTrialsIfMoreMayRunAtATime) {
  Tuning t;
  const ml::Job job = t.Run(ATuningJob("j", 2, 9));
  EXPECT_EQ(job.state, JobState::kSucceeded);
  EXPECT_EQ(t.launches.size(), 2u);
  EXPECT_EQ(t.most_live, 2u);
}

TEST(Tuning, TheSameReportIsTakenOnce) {
  Tuning t;
  t.script = [](const ReplicaLaunch& launch) {
    Script does = Tuning::Usual(launch);
    const Report first{10, 0.1, 1000, false};
    Report again_later = first;
    again_later.time = 1001;  // the same step a second time is another report
    Report of_summary = first;
    of_summary.summary = true;
    does.reports = {{seconds(1), first},
                    {seconds(2), first},
                    {seconds(3), again_later},
                    {seconds(4), of_summary},
                    {seconds(5), of_summary}};
    return does;
  };
  t.Run(ATuningJob("j", 1));
  EXPECT_THAT(t.Steps("j", 1), ElementsAre(10, 10, 10));
}

TEST(Tuning, MoreParallelTrialsThanDevicesWait) {
  Tuning t;
  t.world.devices.stock = {{"NVIDIA_TESLA_T4", 2}};
  ml::Job job = ATuningJob("j", 6, 4);
  job.training_input->master.config.emplace().accelerator_config = {1, "NVIDIA_TESLA_T4"};
  EXPECT_EQ(t.Run(std::move(job)).state, JobState::kSucceeded);
  EXPECT_EQ(t.most_live, 2u);
  EXPECT_EQ(t.launches.size(), 6u);
}

TEST(Tuning, TheLimitOfJobsIsNotForTrials) {
  EngineOptions options;
  options.jobs_max = 1;
  Tuning t(options);
  ASSERT_TRUE(t.world.Submit(ATuningJob("j", 4, 2)).ok());
  ml::Job urgent = AJob("urgent", 0, 0);
  urgent.training_input->scheduling.emplace().priority = 9;
  ASSERT_TRUE(t.world.Submit(std::move(urgent)).ok());
  t.script = [](const ReplicaLaunch& launch) {
    return launch.key.run.trial.empty() ? Script{} : Tuning::Usual(launch);
  };
  EXPECT_TRUE(t.world.RunUntilState("j", JobState::kSucceeded));
  EXPECT_EQ(t.most_live, 2u);
  t.world.RunUntilIdle();
  EXPECT_EQ(t.world.JobOf("urgent").state, JobState::kSucceeded);
}

TEST(Tuning, TheSameSeedTriesTheSameValues) {
  const auto values = [](uint64_t seed) {
    EngineOptions options;
    options.rules.seed = seed;
    Tuning t(options);
    std::vector<std::string> rates;
    const ml::Job job = t.Run(ATuningJob("j", 5, 2));
    for (const auto& trial : job.training_output->trials) {
      rates.push_back(trial.hyperparameters.at("rate"));
    }
    return rates;
  };
  EXPECT_EQ(values(1), values(1));
  EXPECT_NE(values(1), values(2));
}

}  // namespace
}  // namespace caip::engine
