// Scenarios of tuning jobs of Vertex AI.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/scenario/scenario.h"
#include "harness/scenario/scenario_replicas.h"
#include "tests/harness/file_of.h"
#include "tests/vertex/a_study_job.h"
#include "vertex/document.h"
#include "vertex/schema/tuning_job_json.h"

namespace caip::harness {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kStudyCommand = "description: d\ntrainer: {command: [python3, t.py]}\n";
const std::string kStudy =
    "studySpec: {metrics: [{metricId: accuracy, goal: MAXIMIZE}], parameters: [{parameterId: rate, "
    "doubleValueSpec: {minValue: 0.1, maxValue: 1}}]}";

std::string StudyScenario(const std::string& more) {
  return kStudyCommand + "job: {hyperparameter_tuning_job: {" + kStudy + more + "}}\n";
}

Json StudyDocument(const std::string& more) {
  const auto read = Read(StudyScenario(more));
  EXPECT_TRUE(read.ok()) << read.error().message;
  return read.ok() ? read->document : Json();
}

TEST(TuningJobScenario, NamesReplicasByPoolAndTrial) {
  const std::string trials =
      ", maxTrialCount: 2, trialJobSpec: {workerPoolSpecs: [{}, {machineSpec: {machineType: "
      "n1-standard-4}}]}";
  const auto read = Read(StudyScenario(trials) +
                         "faults: [{kill: {replica: worker}, when: {step: 3, trial: 2}},\n"
                         "         {kill: {replica: chief/1}, when: {step: 3}}]\n");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->kind, &TuningJobs());
  EXPECT_EQ(read->faults[0].replica, "workerpool1-0/2");
  EXPECT_EQ(read->faults[1].replica, "workerpool0-0/1");
  EXPECT_THAT(FindReplicas(*read), ElementsAre("workerpool0-0/1", "workerpool1-0/1",
                                               "workerpool0-0/2", "workerpool1-0/2"));
}

TEST(TuningJobScenario, ReportsTrialsThatTheJobDoesNotHave) {
  const auto mistakes = [](const std::string& replica) {
    return Mistakes(StudyScenario(", maxTrialCount: 2") + "faults: [{kill: {replica: " + replica +
                    "}, when: {step: 3}}]");
  };
  EXPECT_EQ(mistakes("workerpool0-0/2"), "");
  EXPECT_THAT(mistakes("workerpool0-0/3"), HasSubstr("the job has no workerpool0-0/3"));
  EXPECT_THAT(mistakes("workerpool0-0"), HasSubstr("the job has no workerpool0-0"));
}

TEST(TuningJobScenario, MayBeWrittenInAnySpelling) {
  const Json written = StudyDocument(", maxTrialCount: 2, parallelTrialCount: 1");
  EXPECT_EQ(StringOr(written, "displayName"), "scenario");
  EXPECT_EQ(StudyDocument(", max_trial_count: 2.0, parallel_trial_count: 1"), written);
  EXPECT_EQ(StringOr(StudyDocument(", displayName: x"), "displayName"), "x");
}

TEST(TuningJobScenario, ReportsUnknownFields) {
  const std::string text = Mistakes(StudyScenario(", maxTrials: 3"));
  EXPECT_THAT(text, HasSubstr("s.yaml:3:"));
  EXPECT_THAT(text, HasSubstr("maxTrials"));
}

TEST(TuningJobScenario, IsTheOnlyJob) {
  for (const char* other :
       {"config: {}", "custom_job: {}", "create: [a]", "submit: [a]", "tune: [a]"}) {
    EXPECT_THAT(Mistakes(kStudyCommand + "job: {hyperparameter_tuning_job: {" + kStudy + "}, " +
                         other + "}\n"),
                HasSubstr("a scenario has one job"))
        << other;
  }
  EXPECT_THAT(Mistakes("description: d\ntrainer: {command: [python3, t.py], ranks: 2}\n"
                       "job: {hyperparameter_tuning_job: {" +
                       kStudy + "}}\n"),
              HasSubstr("worker pools"));
}

TEST(TuningJobScenario, HasTheRulesOfItsTrials) {
  EXPECT_EQ(Mistakes(StudyScenario("") + "mood: {failing_restart: 30s}\n"), "");
  EXPECT_EQ(Mistakes(StudyScenario("") + "faults: [{fail: {replica: workerpool0-0/1}, when: {step: "
                                         "3}}]\nexpect: {state: JOB_STATE_FAILED}\n"),
            "");
  const std::string spot = StudyScenario(", trialJobSpec: {scheduling: {strategy: SPOT}}");
  EXPECT_EQ(Mistakes(spot + "expect: {attempts: 10}"), "");
  EXPECT_THAT(Mistakes(spot + "expect: {attempts: 11}"), HasSubstr("10"));
}

TEST(TuningJob, GetsWhatARunNeedsAndNothingElse) {
  const Json job = TuningJobs().Complete(
      StudyDocument(", parallelTrialCount: 3"),
      {.image = "gcr.io/p/i", .arguments = {"--x"}, .output_directory = "gs://job/out"});
  EXPECT_EQ(IntOr(job, "maxTrialCount", 0), 1);
  EXPECT_EQ(IntOr(job, "parallelTrialCount", 0), 3);
  const Json& pool = job["trialJobSpec"]["workerPoolSpecs"][0];
  EXPECT_EQ(pool["containerSpec"]["imageUri"], "gcr.io/p/i");
  EXPECT_EQ(pool["containerSpec"]["args"], Json::array({"--x"}));
  EXPECT_EQ(TuningJobs().OutputDirectoryOf(job), "gs://job/out");
  EXPECT_EQ(TuningJobs().SubjectOf(job), "gcr.io/p/i");
  EXPECT_EQ(TuningJobs().MetricTagOf(job), "accuracy");
}

TEST(TuningJob, KeepsOneTrialOfAStudy) {
  Json job = StudyDocument(", maxTrialCount: 8, parallelTrialCount: 4, maxFailedTrialCount: 3");
  TuningJobs().KeepOneTrial("", job);
  EXPECT_EQ(IntOr(job, "maxTrialCount", 0), 1);
  EXPECT_EQ(IntOr(job, "parallelTrialCount", 0), 1);
  EXPECT_FALSE(job.contains("maxFailedTrialCount"));
  EXPECT_EQ(TuningJobs().MetricTagOf(job), "accuracy");
  TuningJobs().KeepOneTrial("loss", job);
  EXPECT_EQ(TuningJobs().MetricTagOf(job), "loss");
}

TEST(TuningJob, ChangesThePoolsOfItsTrials) {
  Json job = TuningJobs().Complete(StudyDocument(""), {.image = "gcr.io/p/i"});
  TuningJobs().AddEveryRole(job, true);
  for (const char* role : {"master", "worker", "ps", "evaluator"}) {
    EXPECT_TRUE(TuningJobs().HasRole(job, role)) << role;
  }
  EXPECT_THAT(TuningJobs().ImagesOf(job), ElementsAre("gcr.io/p/i"));
  TuningJobs().RemoveImages(job);
  EXPECT_THAT(TuningJobs().ImagesOf(job), ElementsAre());
  EXPECT_EQ(TuningJobs().MetricTagOf(job), "accuracy") << "the study stays";
}

TEST(TuningJob, HasTheBestTrialByItsGoal) {
  const auto best = [](const std::string& goal) {
    Json body = vertex::AStudyJob();
    body["studySpec"]["metrics"][0]["goal"] = goal;
    const auto job = vertex::ParseTuningJob(body);
    EXPECT_TRUE(job.ok()) << job.error().message;
    std::vector<run::Trial> trials(3);
    for (size_t i = 0; i < trials.size(); ++i) trials[i].id = std::to_string(i + 1);
    trials[1].final_metric = {10, 0.5};
    trials[2].final_metric = {10, 0.75};
    const auto document = vertex::WithTrials(vertex::ToDocument(*job, "us-central1"), trials);
    run::Job stored;
    stored.document = document;
    const auto found = TuningJobs().BestTrialOf(stored);
    return found.ok() ? *found : found.error().message;
  };
  EXPECT_EQ(best("MAXIMIZE"), "3");
  EXPECT_EQ(best("MINIMIZE"), "2");
}

}  // namespace
}  // namespace caip::harness
