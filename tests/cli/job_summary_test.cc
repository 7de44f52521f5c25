#include "emulator/cli/print/job_summary.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace caip::cli {
namespace {

// The output of gcloud 528 for the same job.
constexpr char kExpected[] =
    R"(┌─────────────────────────────────────────────────────────────────────────────────────────┐
│                                       Job Overview                                      │
├────────┬──────────────────────┬──────────────────────┬──────────────────────┬───────────┤
│ JOB_ID │     CREATE_TIME      │      START_TIME      │       END_TIME       │   STATE   │
├────────┼──────────────────────┼──────────────────────┼──────────────────────┼───────────┤
│ j1     │ 2026-11-21T05:00:00Z │ 2026-11-21T05:00:10Z │ 2026-11-21T05:01:00Z │ SUCCEEDED │
└────────┴──────────────────────┴──────────────────────┴──────────────────────┴───────────┘
    ┌─────────────────────────────────────────────────────────────────────────┐
    │                          Training Input Summary                         │
    ├─────────────┬────────────┬───────────────┬───────────────┬──────────────┤
    │    REGION   │ SCALE_TIER │ PYTHON_MODULE │  MASTER_TYPE  │ WORKER_COUNT │
    ├─────────────┼────────────┼───────────────┼───────────────┼──────────────┤
    │ us-central1 │ CUSTOM     │ trainer.task  │ n1-standard-4 │ 2            │
    └─────────────┴────────────┴───────────────┴───────────────┴──────────────┘
    ┌─────────────────────────────────┐
    │     Training Output Summary     │
    ├─────────────────────────────────┤
    │             ML_UNITS            │
    ├─────────────────────────────────┤
    │ 0.5                             │
    └─────────────────────────────────┘
)";

TEST(JobSummary, IsWhatGcloudPrints) {
  const Json job = *ParseJson(R"({
    "jobId": "j1", "createTime": "2026-11-21T05:00:00Z", "startTime": "2026-11-21T05:00:10Z",
    "endTime": "2026-11-21T05:01:00Z", "state": "SUCCEEDED",
    "trainingInput": {"scaleTier": "CUSTOM", "masterType": "n1-standard-4", "workerCount": "2",
                      "region": "us-central1", "pythonModule": "trainer.task"},
    "trainingOutput": {"consumedMLUnits": 0.5}})");
  EXPECT_EQ(JobSummary(job), kExpected);
}

TEST(JobSummary, SortsTrialsByTheTextOfTheirIds) {
  const Json job = *ParseJson(R"({"jobId": "t", "trainingInput": {"hyperparameters": {}},
    "trainingOutput": {"completedTrialCount": "2", "trials": [
      {"trialId": "2", "hyperparameters": {"lr": "0.1", "n": "3"}},
      {"trialId": "10",
       "finalMetric": {"objectiveValue": 0.29248229108893864, "trainingStep": "7"}}]}})");
  const std::string text = JobSummary(job);
  EXPECT_LT(text.find("│ 10    │"), text.find("│ 2     │")) << text;
  EXPECT_NE(text.find("lr=0.1"), std::string::npos);
  EXPECT_NE(text.find("│ 0.292482 "), std::string::npos) << text;
  EXPECT_EQ(text.find("Training Input Summary"), std::string::npos);
}

// docs/service/api.md, section 1: answers leave out zeros.
TEST(JobSummary, ShowsZerosOfAFinalMetricThatAnswersLeaveOut) {
  const Json job = *ParseJson(R"({"jobId": "t", "trainingInput": {"hyperparameters": {}},
    "trainingOutput": {"isHyperparameterTuningJob": true, "trials": [
      {"trialId": "1", "finalMetric": {"trainingStep": "7"}},
      {"trialId": "2", "finalMetric": {}},
      {"trialId": "3", "finalMetric": {"objectiveValue": 0.5}},
      {"trialId": "4"}]}})");
  const std::string text = JobSummary(job);
  for (const char* row :
       {"│ 1     │ 0               │ 7    │", "│ 2     │ 0               │ 0    │",
        "│ 3     │ 0.5             │ 0    │", "│ 4     │                 │      │",
        "│       TRIALS       │       ML_UNITS       │",
        "│ 0                  │                      │"}) {
    EXPECT_NE(text.find(row), std::string::npos) << row << "\n" << text;
  }
}

TEST(JobSummary, ShowsWhatIsNoFiniteNumberAsPythonDoes) {
  const Json job = *ParseJson(R"({"jobId": "t", "trainingInput": {"hyperparameters": {}},
    "trainingOutput": {"trials": [
      {"trialId": "1", "finalMetric": {"objectiveValue": "NaN", "trainingStep": "7"}},
      {"trialId": "2", "finalMetric": {"objectiveValue": "Infinity", "trainingStep": "7"}},
      {"trialId": "3", "finalMetric": {"objectiveValue": "-Infinity", "trainingStep": "7"}}]}})");
  const std::string text = JobSummary(job);
  for (const char* row : {"│ 1     │ nan  ", "│ 2     │ inf  ", "│ 3     │ -inf  "}) {
    EXPECT_NE(text.find(row), std::string::npos) << row << "\n" << text;
  }
}

}  // namespace
}  // namespace caip::cli
