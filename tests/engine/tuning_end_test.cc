// How tuning jobs and their trials end: failed trials, a searched grid, cancels, limits and early
// stopping.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include "tests/engine/tuning_world.h"

namespace caip::engine {
namespace {

using run::JobState;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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

}  // namespace
}  // namespace caip::engine
