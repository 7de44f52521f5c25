// Tuning jobs that go on: with the next emulator, on a machine that was restarted, and as another
// job that resumes the study.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "tests/engine/tuning_world.h"

namespace caip::engine {
namespace {

using run::JobState;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;

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
