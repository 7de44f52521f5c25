// Tuning jobs in the small world: each trial is a cluster, and the job ends
// by their results.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tests/support/a_tuning_job.h"

namespace caip::engine {
namespace {

using run::JobState;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

const run::ReplicaId kTrialMaster{"master", 0};
const run::ReplicaId kTrialWorker{"worker", 0};

int TrialOf(const ReplicaLaunch& launch) { return std::stoi(launch.key.run.trial); }

std::string Variable(const ReplicaLaunch& launch, const std::string& name) {
  for (const auto& [variable, value] : launch.environment) {
    if (variable == name) return value;
  }
  return "(unset)";
}

// A world in which the master of trial n runs for ten seconds and reports n/10 in the fifth.
struct Tuning {
  explicit Tuning(EngineOptions options = {}) : world(std::move(options)) {
    world.launcher.script = [this](const ReplicaLaunch& launch) {
      launches.push_back(launch);
      most_live = std::max(most_live, world.launcher.live() + 1);
      return script ? script(launch) : Usual(launch);
    };
    world.Boot();
  }
  static Script Usual(const ReplicaLaunch& launch) {
    Script does;
    if (launch.key.replica != kTrialMaster) does.run_for = kForever;
    if (launch.metrics) does.reports = {ReportAt(5, 100, 0.1 * TrialOf(launch))};
    return does;
  }
  ml::Job Run(ml::Job job) {
    const std::string id = job.job_id;
    EXPECT_TRUE(world.Submit(std::move(job)).ok());
    world.RunUntilIdle();
    return world.JobOf(id);
  }
  std::vector<std::string> TrialIds(const std::string& id) {
    std::vector<std::string> ids;
    const ml::Job job = world.JobOf(id);
    for (const auto& trial : job.training_output->trials) ids.push_back(trial.trial_id);
    return ids;
  }
  const ml::HyperparameterOutput& Trial(const ml::Job& job, const std::string& id) {
    for (const auto& trial : job.training_output->trials) {
      if (trial.trial_id == id) return trial;
    }
    static const ml::HyperparameterOutput none;
    ADD_FAILURE() << "no trial " << id;
    return none;
  }
  std::vector<TrialRecord> Kept(const std::string& job) { return *world.store.Trials("p", job); }
  std::vector<double> Steps(const std::string& job, size_t trial) {
    std::vector<double> steps;
    const std::vector<TrialRecord> kept = Kept(job);
    for (const Report& report : kept.at(trial - 1).reports) {
      steps.push_back(static_cast<double>(report.step));
    }
    return steps;
  }

  std::function<Script(const ReplicaLaunch&)> script;
  std::vector<ReplicaLaunch> launches;
  size_t most_live = 0;
  Instant reported = Instant::max();  // when reports come, if a test needs it
  SimulatedEngine world;
};

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

TEST(Tuning, AFailingTrialLeavesTheOthersAlone) {
  Tuning t;
  t.script = [](const ReplicaLaunch& launch) {
    Script does = Tuning::Usual(launch);
    if (TrialOf(launch) == 2) does.exit_code = 1, does.traceback = "Traceback: out of range\n";
    return does;
  };
  const ml::Job job = t.Run(ATuningJob("j", 4));
  EXPECT_EQ(job.state, JobState::kSucceeded);
  EXPECT_THAT(t.TrialIds("j"), ElementsAre("4", "3", "1", "2"));
  EXPECT_EQ(t.Trial(job, "2").state, JobState::kFailed);
  EXPECT_FALSE(t.Trial(job, "2").final_metric);
  EXPECT_EQ(job.training_output->completed_trial_count, 3);
  EXPECT_THAT(t.world.log.Of("j", "service"),
              Contains(HasSubstr("Trial 2 failed. The replica master 0 exited with a non-zero "
                                 "status of 1. \nTraceback: out of range")));
}

TEST(Tuning, FailsWhenMaxFailedTrialsHaveFailed) {
  Tuning t;
  t.script = [](const ReplicaLaunch& launch) {
    Script does = Tuning::Usual(launch);
    if (TrialOf(launch) % 2 == 0) does.exit_code = 1;
    return does;
  };
  ml::Job job = ATuningJob("j", 10);
  job.training_input->hyperparameters->max_failed_trials = 2;
  const ml::Job done = t.Run(std::move(job));
  EXPECT_EQ(done.state, JobState::kFailed);
  EXPECT_EQ(t.launches.size(), 4u);
  EXPECT_THAT(done.error_message,
              HasSubstr("2 trials have failed, and hyperparameters.maxFailedTrials is 2. Trial 4 "
                        "was the last: The replica master 0 exited"));
  EXPECT_EQ(done.training_output->completed_trial_count, 2);
}

TEST(Tuning, FailsWhenTheFirstThreeFailAndTheServiceDecides) {
  Tuning t;
  t.script = [](const ReplicaLaunch&) { return Script{.exit_code = 1}; };
  const ml::Job job = t.Run(ATuningJob("j", 10));
  EXPECT_EQ(job.state, JobState::kFailed);
  EXPECT_EQ(t.launches.size(), 3u);
  EXPECT_THAT(job.error_message, HasSubstr("All 3 trials that have ended have failed."));
}

TEST(Tuning, TheFailureOfTheJobStopsTheTrialsThatRun) {
  Tuning t;
  t.script = [](const ReplicaLaunch& launch) {
    Script does;
    does.run_for = TrialOf(launch) == 1 ? seconds(1) : kForever;
    does.exit_code = TrialOf(launch) == 1;
    return does;
  };
  ml::Job job = ATuningJob("j", 4, 3);
  job.training_input->hyperparameters->max_failed_trials = 1;
  const ml::Job done = t.Run(std::move(job));
  EXPECT_EQ(done.state, JobState::kFailed);
  EXPECT_EQ(t.Trial(done, "2").state, JobState::kCancelled);
  EXPECT_EQ(t.Trial(done, "3").state, JobState::kCancelled);
  EXPECT_EQ(t.launches.size(), 3u);
}

TEST(Tuning, EndsWhenTheGridIsExhausted) {
  Tuning t;
  const ml::Job job = t.Run(AGridJob("j", 10, 2));
  EXPECT_EQ(job.state, JobState::kSucceeded);
  std::set<std::string> kinds;
  for (const auto& trial : job.training_output->trials) {
    kinds.insert(trial.hyperparameters.at("kind"));
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"a", "b", "c"}));
  EXPECT_EQ(t.launches.size(), 3u);
  EXPECT_THAT(t.world.log.Of("j", "service"), Contains(HasSubstr("3 trials cover the whole grid")));
}

TEST(Tuning, ACancelInMidStudyKeepsWhatHasFinished) {
  Tuning t;
  ASSERT_TRUE(t.world.Submit(ATuningJob("j", 10, 2)).ok());
  t.world.RunFor(seconds(25));
  ASSERT_TRUE(t.world.Cancel("j").ok());
  EXPECT_EQ(t.world.JobOf("j").state, JobState::kCancelling);
  t.world.RunUntilIdle();
  const ml::Job job = t.world.JobOf("j");
  EXPECT_EQ(job.state, JobState::kCancelled);
  EXPECT_EQ(job.training_output->completed_trial_count, 4);
  EXPECT_EQ(job.training_output->trials.size(), 6u);
  EXPECT_EQ(t.Trial(job, "5").state, JobState::kCancelled);
  EXPECT_TRUE(t.Trial(job, "5").end_time);
  EXPECT_EQ(t.launches.size(), 6u);
}

TEST(Tuning, MaxRunningTimeIsOfTheWholeJob) {
  Tuning t;
  ml::Job job = ATuningJob("j", 100);
  job.training_input->scheduling.emplace().max_running_time = seconds(95);
  const ml::Job done = t.Run(std::move(job));
  EXPECT_EQ(done.state, JobState::kCancelled);
  EXPECT_EQ(done.training_output->completed_trial_count, 9);
  EXPECT_THAT(done.error_message, HasSubstr("maxRunningTime"));
}

TEST(Tuning, ARestartedMachineKeepsTheTrialItsNumberAndItsReports) {
  Tuning t;
  t.script = [&](const ReplicaLaunch& launch) {
    Script does = Tuning::Usual(launch);
    does.reports = {ReportAt(launch.key.boot == 1 ? 3 : 33, launch.key.boot * 10, 0.5)};
    does.run_for = seconds(60);
    return does;
  };
  ASSERT_TRUE(t.world.Submit(ATuningJob("j", 2, 2)).ok());
  t.world.RunFor(seconds(20));
  ASSERT_TRUE(t.world.LoseVm("j", kTrialMaster, VmLoss::kKill, "2").ok());
  t.world.RunUntilIdle();
  EXPECT_EQ(t.world.JobOf("j").state, JobState::kSucceeded);
  ASSERT_EQ(t.launches.size(), 3u);
  EXPECT_EQ(t.launches[2].key, (ReplicaKey{{"p", "j", "2"}, kTrialMaster, 2}));
  EXPECT_EQ(t.launches[1].environment, t.launches[2].environment);
  EXPECT_THAT(t.Steps("j", 1), ElementsAre(10));
  EXPECT_THAT(t.Steps("j", 2), ElementsAre(10, 20));
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

// Trial 1 and 2 rise to 0.6; later ones stay at 0.1.
Script Curves(const ReplicaLaunch& launch) {
  Script does;
  does.run_for = seconds(60);
  for (int i = 1; i <= 5; ++i) {
    does.reports.push_back(ReportAt(10 * i, 100 * i, TrialOf(launch) <= 2 ? 0.1 + 0.1 * i : 0.1));
  }
  return does;
}

TEST(EarlyStopping, EndsATrialThatIsWorseThanTheMedian) {
  Tuning t;
  t.script = Curves;
  ml::Job job = ATuningJob("j", 4);
  job.training_input->hyperparameters->enable_trial_early_stopping = true;
  const ml::Job done = t.Run(std::move(job));
  EXPECT_EQ(done.state, JobState::kSucceeded);
  EXPECT_EQ(done.training_output->completed_trial_count, 4);
  EXPECT_FALSE(t.Trial(done, "1").is_trial_stopped_early);
  EXPECT_FALSE(t.Trial(done, "2").is_trial_stopped_early);
  const ml::HyperparameterOutput& third = t.Trial(done, "3");
  EXPECT_EQ(third.state, JobState::kSucceeded);
  EXPECT_TRUE(third.is_trial_stopped_early);
  EXPECT_EQ(third.final_metric, std::pair(int64_t{100}, 0.1));
  EXPECT_LT(*third.end_time - *third.start_time, seconds(11));
  EXPECT_THAT(t.Steps("j", 3), ElementsAre(100));
  EXPECT_THAT(t.world.log.Of("j", "service"), Contains(HasSubstr("Trial 3 is stopped early: ")));
}

TEST(EarlyStopping, IsNotUnlessAskedFor) {
  Tuning t;
  t.script = Curves;
  const ml::Job done = t.Run(ATuningJob("j", 4));
  for (const auto& trial : done.training_output->trials) {
    EXPECT_FALSE(trial.is_trial_stopped_early);
  }
  EXPECT_EQ(t.Steps("j", 4).size(), 5u);
}

TEST(EarlyStopping, IsRememberedByTheNextEmulator) {
  Tuning t;
  t.script = [](const ReplicaLaunch& launch) {
    Script does = Curves(launch);
    if (TrialOf(launch) == 3) does.sigterm_takes = seconds(25);
    return does;
  };
  ml::Job job = ATuningJob("j", 3);
  job.training_input->hyperparameters->enable_trial_early_stopping = true;
  ASSERT_TRUE(t.world.Submit(std::move(job)).ok());
  t.world.RunFor(seconds(135));  // the third is stopping
  t.world.KillEmulator();
  t.world.Boot();
  t.world.RunUntilIdle();
  const ml::Job done = t.world.JobOf("j");
  EXPECT_EQ(done.state, JobState::kSucceeded);
  EXPECT_TRUE(t.Trial(done, "3").is_trial_stopped_early);
  EXPECT_EQ(t.launches.size(), 3u);
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

TEST(Tuning, DevicesThatNeverComeFailTheJobAtOnce) {
  Tuning t;
  t.world.devices.stock = {{"NVIDIA_TESLA_T4", 2}};
  t.world.devices.never = true;
  ml::Job job = ATuningJob("j", 6, 4);
  job.training_input->master.config.emplace().accelerator_config = {4, "NVIDIA_TESLA_T4"};
  const ml::Job done = t.Run(std::move(job));
  EXPECT_EQ(done.state, JobState::kFailed);
  EXPECT_NE(done.error_message, "");
  EXPECT_TRUE(t.launches.empty());
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

TEST(Tuning, FailsOnceWhenThePackagesCannotBeInstalled) {
  Tuning t;
  t.world.packager.fails = [](const PrepareRequest&) {
    return Prepared::Failure{1, "no such package", ""};
  };
  const ml::Job job = t.Run(ATuningJob("j", 4, 2));
  EXPECT_EQ(job.state, JobState::kFailed);
  EXPECT_THAT(job.error_message, HasSubstr("no such package"));
  EXPECT_TRUE(t.launches.empty());
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

// kill -9 again and again, at moments that have nothing to do with the trials' own.
TEST(TuningRecovery, AKilledEmulatorLosesNoFinishedTrialAndRepeatsNoReport) {
  Tuning t;
  t.script = [](const ReplicaLaunch& launch) {
    Script does;
    const int boot = launch.key.boot;
    for (int step = 1; step <= 9; ++step) {  // a trainer that resumes from its checkpoint
      does.reports.push_back(ReportAt(step, 100 * boot + step, 0.01 * step));
    }
    return does;
  };
  ASSERT_TRUE(t.world.Submit(ATuningJob("j", 50, 4)).ok());
  std::map<std::string, size_t> reports_at_the_end;
  for (int kill = 0; kill < 12; ++kill) {
    t.world.RunFor(std::chrono::milliseconds(11'337));
    t.world.KillEmulator();
    for (const TrialRecord& trial : t.Kept("j")) {
      if (trial.job.state != JobState::kSucceeded) continue;
      const auto [known, is_new] =
          reports_at_the_end.try_emplace(trial.job.key.trial, trial.reports.size());
      EXPECT_EQ(known->second, trial.reports.size()) << "trial " << trial.job.key.trial;
    }
    t.world.Boot();
  }
  EXPECT_GT(reports_at_the_end.size(), 10u);
  t.world.RunUntilIdle();
  const ml::Job job = t.world.JobOf("j");
  EXPECT_EQ(job.state, JobState::kSucceeded);
  EXPECT_EQ(job.training_output->completed_trial_count, 50);
  EXPECT_EQ(job.training_output->trials.size(), 50u);
  EXPECT_EQ(t.world.addresses.lent(), 0u);
  EXPECT_EQ(t.world.clock.holders(), 0);
  for (const TrialRecord& trial : t.Kept("j")) {
    std::set<std::pair<int64_t, double>> known;
    for (const Report& report : trial.reports) {
      EXPECT_TRUE(known.insert({report.step, report.time}).second)
          << "trial " << trial.job.key.trial << " step " << report.step;
    }
    EXPECT_GE(trial.reports.size(), 9u);
  }
  std::map<std::string, int> boots;  // no trial starts again after its end
  for (const ReplicaLaunch& launch : t.launches) ++boots[launch.key.run.trial];
  EXPECT_EQ(boots.size(), 50u);
}

// The disk is full only when the report comes. The trial ends before the report is tried again.
TEST(TuningRecovery, AKilledEmulatorLosesNoReportOfAFinishedTrial) {
  Tuning t;
  t.script = [](const ReplicaLaunch& launch) {
    Script does = Tuning::Usual(launch);
    does.reports = {ReportAt(5, 100, 0.5)};
    does.run_for = seconds(5) + std::chrono::milliseconds(100);
    return does;
  };
  int refusals = 0;
  t.world.store.refuse = [&]() -> std::optional<Error> {
    const bool reports_came = t.world.launcher.live() > 0 && t.world.clock.Now() >= t.reported;
    if (!reports_came || refusals++ > 0) return std::nullopt;
    return Error{Code::kResourceExhausted, "disk full"};
  };
  ASSERT_TRUE(t.world.Submit(ATuningJob("j", 1, 1)).ok());
  ASSERT_TRUE(t.world.RunUntil([&] { return t.world.launcher.live() > 0; }));
  t.reported = t.world.clock.Now() + seconds(5);
  ASSERT_TRUE(t.world.RunUntil([&] { return refusals > 0 && t.world.launcher.live() == 0; }));
  t.world.RunFor(std::chrono::milliseconds(200));
  t.world.KillEmulator();
  const TrialRecord kept = t.Kept("j").at(0);
  EXPECT_TRUE(kept.job.state != JobState::kSucceeded || kept.reports.size() == 1);
  t.world.Boot();
  t.world.RunUntilIdle();
  EXPECT_EQ(t.world.JobOf("j").state, JobState::kSucceeded);
  EXPECT_EQ(t.Kept("j").at(0).reports.size(), 1u);
  EXPECT_EQ(t.world.clock.holders(), 0);
}

TEST(TuningRecovery, GoesOnWithTheValuesThatItHadChosen) {
  Tuning t;
  ASSERT_TRUE(t.world.Submit(ATuningJob("j", 3, 2)).ok());
  t.world.RunFor(seconds(5));
  t.world.KillEmulator();
  t.world.Boot();
  t.world.RunUntilIdle();
  ASSERT_EQ(t.launches.size(), 5u);
  EXPECT_EQ(t.launches[0].Argv(), t.launches[2].Argv());
  EXPECT_EQ(t.launches[0].environment, t.launches[2].environment);
  EXPECT_EQ(t.launches[1].environment, t.launches[3].environment);
  EXPECT_EQ(t.world.packager.requests().size(), 2u);  // once for each emulator
}

TEST(TuningRecovery, ACancelledStudyIsCancelledByTheNextEmulator) {
  Tuning t;
  t.script = [](const ReplicaLaunch&) {
    return Script{.run_for = kForever, .sigterm_takes = kForever};
  };
  ASSERT_TRUE(t.world.Submit(ATuningJob("j", 6, 2)).ok());
  t.world.RunFor(seconds(5));
  ASSERT_TRUE(t.world.Cancel("j").ok());
  EXPECT_EQ(t.world.JobOf("j").state, JobState::kCancelling);
  t.world.KillEmulator();
  t.world.Boot();
  t.world.RunUntilIdle();
  const ml::Job job = t.world.JobOf("j");
  EXPECT_EQ(job.state, JobState::kCancelled);
  EXPECT_EQ(t.Trial(job, "1").state, JobState::kCancelled);
  EXPECT_EQ(t.Trial(job, "2").state, JobState::kCancelled);
  EXPECT_TRUE(t.world.engine->Idle());
}

TEST(TuningRecovery, ACancelBetweenTheEmulatorsTurnsIsHeard) {
  Tuning t;
  t.script = [](const ReplicaLaunch&) { return Script{.run_for = kForever}; };
  t.world.packager.takes = minutes(5);
  ASSERT_TRUE(t.world.Submit(ATuningJob("j", 6, 2)).ok());
  t.world.RunFor(minutes(6));
  ASSERT_EQ(t.world.launcher.live(), 2u);
  t.world.KillEmulator();
  t.world.Boot();
  t.world.RunFor(minutes(1));  // it installs; its trials are not begun again
  ASSERT_TRUE(t.world.Cancel("j").ok());
  t.world.RunUntilIdle();
  const ml::Job job = t.world.JobOf("j");
  EXPECT_EQ(job.state, JobState::kCancelled);
  EXPECT_EQ(t.Trial(job, "2").state, JobState::kCancelled);
  EXPECT_TRUE(t.world.engine->Idle());
}

TEST(Resume, GoesOnWithTheNumbersAndTheValuesOfTheEarlierJob) {
  Tuning t;
  t.Run(AGridJob("first", 2));
  ml::Job job = AGridJob("second", 5);
  job.training_input->hyperparameters->resume_previous_job_id = "first";
  const ml::Job done = t.Run(std::move(job));
  EXPECT_EQ(done.state, JobState::kSucceeded);
  EXPECT_THAT(t.TrialIds("second"), ElementsAre("3"));  // a and b are known
  EXPECT_EQ(done.training_output->trials[0].hyperparameters.at("kind"), "c");
  EXPECT_THAT(t.world.log.Of("second", "service"),
              Contains("The study of job first is resumed: 2 earlier trials are known."));
  ml::Job third = AGridJob("third", 5);
  third.training_input->hyperparameters->resume_previous_job_id = "second";
  EXPECT_EQ(t.Run(std::move(third)).state, JobState::kSucceeded);
  EXPECT_THAT(t.TrialIds("third"), ElementsAre());  // all three are known
}

}  // namespace
}  // namespace caip::engine
