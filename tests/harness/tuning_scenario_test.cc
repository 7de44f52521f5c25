// Scenarios of tuning jobs: triggers that name a trial, and expectations of trials.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/events/replica_name.h"
#include "harness/scenario/scenario.h"
#include "tests/harness/file_of.h"

namespace caip::harness {
namespace {

using ::testing::HasSubstr;

const std::string kTuningScenarioHead =
    "description: d\ntrainer: {command: [python3, t.py]}\n"
    "job: {config: {scaleTier: BASIC, hyperparameters: {maxTrials: 3}}}\n";

std::string MistakesOf(const std::string& fault) {
  return Mistakes(kTuningScenarioHead + "faults: [{" + fault + "}]\n");
}

TEST(TuningScenario, ATrialsReplicaIsNamedByBoth) {
  EXPECT_EQ(ReplicaNameOf("master-replica-0", "2"), "master-0/2");
  EXPECT_EQ(ReplicaNameOf("worker-replica-1", ""), "worker-1");
}

TEST(TuningScenario, ATriggerWithATrialMeansTheFaultsReplica) {
  const auto read =
      Read(kTuningScenarioHead + "faults: [{kill: {replica: master}, when: {step: 37, trial: 2}}]");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->faults[0].replica, "master-0/2");
  EXPECT_EQ(read->faults[0].when.replica, "master-0/2");
}

TEST(TuningScenario, AnEventOfOneTrialMayInjectAFaultInAnother) {
  const auto read =
      Read(kTuningScenarioHead +
           "faults: [{kill: {replica: master-0/3}, when: {metric: accuracy, trial: 2, nth: 3}}]");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->faults[0].replica, "master-0/3");
  EXPECT_EQ(read->faults[0].when.replica, "master-0/2");
  EXPECT_TRUE(read->faults[0].when.Is<MetricTrigger>());
}

TEST(TuningScenario, MissingReplicasAreReported) {
  EXPECT_EQ(MistakesOf("kill: {replica: master-0/3}, when: {step: 1}"), "");
  EXPECT_THAT(MistakesOf("kill: {replica: master-0/4}, when: {step: 1}"),
              HasSubstr("the job has no master-0/4"));
  EXPECT_THAT(MistakesOf("kill: {replica: master-0}, when: {step: 1}"),
              HasSubstr("the job has no master-0; it has master-0/1, master-0/2, master-0/3"));
  EXPECT_THAT(MistakesOf("kill: {replica: master-0/x}, when: {step: 1}"),
              HasSubstr("is not a valid replica"));
}

TEST(TuningScenario, ExpectsTrials) {
  const auto read = Read(kTuningScenarioHead +
                         "expect: {trials: {count: 2, reports: [10, 20], best_as_twin: true}}");
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->expectations.size(), 2u);  // the first one: that the job succeeds
  EXPECT_TRUE(read->needs_twin());
  Evidence run;
  run.trials["1"].steps = {10, 20};
  run.trials["2"].steps = {10, 20, 20};
  run.best_trial = "1";
  Evidence twin = run;
  twin.best_trial = "2";
  std::vector<std::string> failed;
  for (const Assertion& assertion : read->expectations[1]->Evaluate({run, &twin})) {
    if (!assertion.passed) failed.push_back(assertion.name + ": " + assertion.found);
  }
  EXPECT_EQ(failed,
            (std::vector<std::string>{"trials reports of 2: 10, 20, 20", "trials best: 1"}));
}

}  // namespace
}  // namespace caip::harness
