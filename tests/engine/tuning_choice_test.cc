// The values of trials are chosen beside the engine's thread: what they are does not depend on how
// long that takes, and nobody waits for it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/support/a_tuning_job.h"

namespace caip::engine {
namespace {

using run::JobState;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::SizeIs;

// Its trials take ten seconds, and are the better the greater the rate.
struct Choosing {
  explicit Choosing(Duration takes) {
    world.executor.takes = [takes] { return takes; };
    world.launcher.script = [](const ReplicaLaunch& launch) {
      Script does;
      if (launch.metrics) does.reports = {ReportAt(5, 1, std::stod(launch.Argv().at(6)))};
      return does;
    };
    world.Boot();
  }
  std::map<std::string, std::string> Rates(const std::string& id) {
    std::map<std::string, std::string> rates;
    const ml::Job job = world.JobOf(id);
    for (const auto& trial : job.training_output->trials) {
      rates[trial.trial_id] = trial.hyperparameters.at("rate");
    }
    return rates;
  }
  SimulatedEngine world;
};

ml::Job ALearningJob(const std::string& id, int trials, int parallel) {
  ml::Job job = ATuningJob(id, trials, parallel);
  job.training_input->hyperparameters->algorithm = "";
  return job;
}

TEST(Choice, IsTheSameHoweverLongItTakes) {
  for (const int parallel : {1, 4}) {
    std::map<std::string, std::string> at_once;
    for (const Duration takes : {Duration(0), Duration(milliseconds(700)), Duration(seconds(3)),
                                 Duration(seconds(25)), Duration(hours(2))}) {
      Choosing c(takes);
      ASSERT_TRUE(c.world.Submit(ALearningJob("j", 12, parallel)).ok());
      c.world.RunUntilIdle();
      ASSERT_EQ(c.world.JobOf("j").state, JobState::kSucceeded);
      if (at_once.empty()) at_once = c.Rates("j");
      EXPECT_THAT(at_once, SizeIs(12));
      EXPECT_EQ(c.Rates("j"), at_once) << parallel << " at a time, " << takes.count();
    }
  }
}

TEST(Choice, OfTrialsSideBySideKnowsTheValuesOfThoseBefore) {
  Choosing c{seconds(30)};
  ASSERT_TRUE(c.world.Submit(AGridJob("j", 3, 3)).ok());
  c.world.launcher.script = [](const ReplicaLaunch&) { return Script{}; };
  c.world.RunUntilIdle();
  std::set<std::string> kinds;
  const ml::Job job = c.world.JobOf("j");
  for (const auto& trial : job.training_output->trials) {
    kinds.insert(trial.hyperparameters.at("kind"));
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"a", "b", "c"}));
}

TEST(Choice, FindsAGridAtItsEndWhileOthersWait) {
  Choosing c{seconds(30)};
  c.world.launcher.script = [](const ReplicaLaunch&) { return Script{.run_for = hours(1)}; };
  ASSERT_TRUE(c.world.Submit(AGridJob("j", 9, 6)).ok());
  c.world.RunUntilIdle();
  const ml::Job job = c.world.JobOf("j");
  EXPECT_EQ(job.state, JobState::kSucceeded);
  EXPECT_THAT(job.training_output->trials, SizeIs(3));
  EXPECT_EQ(c.world.executor.tasks(), 4u);  // the fourth finds nothing, and none asks again
  EXPECT_EQ(c.world.clock.holders(), 0);
}

TEST(Choice, LetsOtherJobsGoOn) {
  Choosing c{hours(5)};
  ASSERT_TRUE(c.world.Submit(ALearningJob("slow", 1, 1)).ok());
  c.world.launcher.script = [](const ReplicaLaunch&) { return Script{}; };
  ASSERT_TRUE(c.world.Submit(AJob("quick", 0, 0)).ok());
  EXPECT_TRUE(c.world.RunUntilState("quick", JobState::kSucceeded));
  EXPECT_EQ(c.world.clock.Now(), kMorning + seconds(10));
  EXPECT_EQ(c.world.JobOf("slow").state, JobState::kPreparing);
  EXPECT_EQ(c.world.clock.holders(), 1);  // time does not leap over a thought
  c.world.RunUntilIdle();
  EXPECT_EQ(c.world.JobOf("slow").state, JobState::kSucceeded);
  EXPECT_EQ(c.world.clock.holders(), 0);
}

TEST(Trials, OneThatHangsAndDoesNotObeyKeepsNoOtherAndIsKilledWithItsJob) {
  Choosing c{Duration(0)};
  c.world.launcher.script = [](const ReplicaLaunch& launch) {
    if (launch.key.run.trial != "1") return Script{};
    return Script{.run_for = kForever, .sigterm_takes = kForever};
  };
  ml::Job job = ATuningJob("j", 5, 2);
  job.training_input->scheduling.emplace().max_running_time = seconds(100);
  ASSERT_TRUE(c.world.Submit(std::move(job)).ok());
  c.world.RunUntilIdle();
  const ml::Job done = c.world.JobOf("j");
  EXPECT_EQ(done.state, JobState::kCancelled);
  EXPECT_EQ(done.training_output->completed_trial_count, 4);
  EXPECT_EQ(*done.end_time, kMorning + seconds(130) + milliseconds(1));  // after the grace period
  EXPECT_EQ(c.world.launcher.live(), 0u);
}

TEST(Choice, OfAJobThatWasCancelledIsNotHeard) {
  Choosing c{hours(5)};
  ASSERT_TRUE(c.world.Submit(ALearningJob("j", 8, 4)).ok());
  c.world.RunFor(hours(1));
  ASSERT_TRUE(c.world.Cancel("j").ok());
  EXPECT_EQ(c.world.JobOf("j").state, JobState::kCancelled);
  c.world.RunUntilIdle();
  EXPECT_THAT(c.world.JobOf("j").training_output->trials, SizeIs(0));
  EXPECT_THAT(c.world.journal, Not(Contains(::testing::HasSubstr("launch"))));
  EXPECT_EQ(c.world.clock.holders(), 0);
  EXPECT_TRUE(c.world.engine->Idle());
}

TEST(Choice, IsMadeAgainByTheNextEmulator) {
  Choosing undisturbed{seconds(3)};
  ASSERT_TRUE(undisturbed.world.Submit(ALearningJob("j", 8, 1)).ok());
  undisturbed.world.RunUntilIdle();
  Choosing c{seconds(3)};
  ASSERT_TRUE(c.world.Submit(ALearningJob("j", 8, 1)).ok());
  for (int kill = 0; kill < 8; ++kill) {
    EXPECT_TRUE(c.world.RunUntil([&] {  // in mid-thought
      return c.world.clock.holders() > 0 && c.world.launcher.live() == 0;
    }));
    c.world.RunFor(seconds(1));
    c.world.KillEmulator();
    c.world.Boot();
    c.world.RunFor(seconds(13));
  }
  c.world.RunUntilIdle();
  EXPECT_EQ(c.world.JobOf("j").state, JobState::kSucceeded);
  EXPECT_EQ(c.Rates("j"), undisturbed.Rates("j"));
  EXPECT_GT(c.world.executor.tasks(), undisturbed.world.executor.tasks());
}

}  // namespace
}  // namespace caip::engine
