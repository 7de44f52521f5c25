// The output of `caip jobs trials`.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/json.h"
#include "base/time_text.h"
#include "report/study_table.h"
#include "tests/cli/study_view.h"

namespace caip::cli {
namespace {

using ::testing::HasSubstr;

constexpr char kAnswer[] = R"({
  "metric": "accuracy", "now": "2022-02-09T09:00:30Z",
  "job": {"jobId": "j", "state": "RUNNING", "trainingInput": {"hyperparameters": {
    "goal": "MINIMIZE", "maxTrials": 5, "params": [
      {"parameterName": "rate", "type": "DOUBLE", "minValue": 0.1, "maxValue": 1,
       "scaleType": "UNIT_LOG_SCALE"},
      {"parameterName": "size", "type": "DISCRETE", "discreteValues": [0.5, 16]}]}},
   "trainingOutput": {"trials": [
     {"trialId": "10", "state": "SUCCEEDED", "hyperparameters": {"rate": "0.5", "size": "16"},
      "finalMetric": {"trainingStep": "7", "objectiveValue": 0.25},
      "startTime": "2022-02-09T09:00:00Z", "endTime": "2022-02-09T09:00:02Z"},
     {"trialId": "2", "state": "RUNNING", "hyperparameters": {"rate": "0.2", "size": "0.5"},
      "startTime": "2022-02-09T09:00:20Z"}]}},
  "measurements": {"2": [{"step": 1, "value": 4, "time": 1}, {"step": 2, "value": "NaN", "time": 2},
                         {"step": 3, "value": 1, "time": 3}]}})";

TEST(Study, IsReadFromTheAnswer) {
  const auto study = report::ReadStudy(*ParseJson(kAnswer));
  ASSERT_TRUE(study.ok()) << study.error().message;
  EXPECT_FALSE(study->maximize);
  EXPECT_EQ(study->max_trials, 5);
  ASSERT_EQ(study->trials.size(), 2u);
  EXPECT_EQ(study->trials[0].id, "2");  // by number
  EXPECT_EQ(study->trials[0].curve.size(), 3u);
  EXPECT_TRUE(std::isnan(study->trials[0].curve[1].second));
  EXPECT_EQ(study->trials[1].final_metric, std::pair(int64_t{7}, 0.25));
  EXPECT_EQ(study->parameters[0].scale, tuning::Scale::kLog);
  EXPECT_EQ(study->parameters[1].choices, (std::vector<std::string>{"0.5", "16"}));
  EXPECT_EQ(study->Best()->id, "10");
}

TEST(Study, OfAJobThatTunesNothingIsAnError) {
  const auto study =
      report::ReadStudy(*ParseJson(R"({"job": {"jobId": "j", "trainingInput": {}}})"));
  ASSERT_FALSE(study.ok());
  EXPECT_THAT(study.error().message, HasSubstr("has no hyperparameters"));
}

TEST(StudyTable, ShowsTrialsBestAndCurves) {
  const auto study = report::ReadStudy(*ParseJson(kAnswer));
  EXPECT_EQ(report::StudyTable(*study, *ParseRfc3339("2022-02-09T09:00:30Z")),
            "j  RUNNING  2 of 5 trials, 1 running, 1 succeeded; MINIMIZE accuracy\n"
            "TRIAL  STATE      ACCURACY  STEP  TIME   CURVE  rate  size\n"
            "  2    RUNNING    1         3     10.0s  █×▁    0.2   0.5\n"
            "* 10   SUCCEEDED  0.25      7     2.00s         0.5   16\n"
            "best so far: trial 10, accuracy 0.25 at step 7: rate=0.5, size=16\n");
}

TEST(StudyTable, TellsATrialInALine) {
  const auto study = report::ReadStudy(*ParseJson(kAnswer));
  EXPECT_EQ(report::TrialLine(*study, study->trials[1]),
            "trial 10 SUCCEEDED accuracy=0.25 at step 7, rate=0.5, size=16\n");
}

TEST(Sparkline, HasEightHeightsAndAWidth) {
  std::vector<std::pair<int64_t, double>> curve;
  EXPECT_EQ(report::Sparkline(curve, 8), "");
  for (int i = 0; i < 8; ++i) curve.emplace_back(i, i);
  EXPECT_EQ(report::Sparkline(curve, 8), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(report::Sparkline(curve, 2), "▁█");
  EXPECT_EQ(report::Sparkline({{1, 5}}, 8), "▅");
  EXPECT_EQ(report::Sparkline({{1, INFINITY}, {2, 0}, {3, 1}}, 8), "×▁█");
}

TEST(Importance, IsOfTheParameterThatMatters) {
  const auto importance = report::ImportanceOf(AStudy());
  ASSERT_EQ(importance.size(), 2u);
  EXPECT_LT(*importance[0], 0.5);
  EXPECT_GT(*importance[1], 0.99);
}

TEST(Importance, IsUnknownOfFewTrials) {
  report::StudyView study = AStudy();
  study.trials.resize(4);
  EXPECT_TRUE(report::ImportanceOf(study).empty());
}

TEST(Importance, PartsTheNumbersOfASet) {
  report::StudyView study = AStudy();
  report::ParameterView& size = study.parameters[1];
  size = {"size", report::ParameterKind::kNumbers, tuning::Scale::kLinear, {}};
  study.trials.clear();
  for (int i = 0; i < 12; ++i) {  // eleven values, whose size says nothing of the outcome
    report::TrialView trial = ATrial(std::to_string(i + 1), 0.1, "", i % 2);
    const std::string number = std::to_string(i == 11 ? 9 : i);
    trial.values["size"] = number;
    if (i < 11) size.choices.push_back(number);
    study.trials.push_back(trial);
  }
  ASSERT_TRUE(report::ImportanceOf(study)[1]);
  EXPECT_LT(*report::ImportanceOf(study)[1], 0.2);
  for (size_t i = 0; i < 12; ++i) study.trials[i].final_metric->second = i < 6 ? 0 : 1;
  EXPECT_GT(*report::ImportanceOf(study)[1], 0.9);
}

TEST(Importance, IsUnknownOfTextsThatNearlyEachTrialHasForItself) {
  report::StudyView study = AStudy();
  for (report::TrialView& trial : study.trials) trial.values["kind"] = "of " + trial.id;
  study.trials[7].values["kind"] = "of 1";
  const auto importance = report::ImportanceOf(study);
  EXPECT_TRUE(importance[0]);
  EXPECT_FALSE(importance[1]);
}

TEST(Study, HasTheServicesBestAlsoWhereItIsInfinite) {
  report::StudyView study = AStudy();
  study.trials[4].final_metric->second = INFINITY;
  study.trials[5].final_metric->second = NAN;
  EXPECT_EQ(study.Best()->id, "5");
  study.maximize = false;
  EXPECT_EQ(study.Best()->id, "2");
}

TEST(Study, HasTheValuesOfASetAsTrialsAreGivenThem) {
  Json answer = *ParseJson(kAnswer);
  Json& params = answer["job"]["trainingInput"]["hyperparameters"]["params"];
  params[1]["discreteValues"] = {0.1, 0.30000000000000004, 1e-7, 256.0};
  params[0]["scaleType"] = "UNIT_REVERSE_LOG_SCALE";
  const auto study = report::ReadStudy(answer);
  EXPECT_EQ(study->parameters[1].choices,
            (std::vector<std::string>{"0.1", "0.30000000000000004", "1e-07", "256"}));
  EXPECT_EQ(study->parameters[0].scale, tuning::Scale::kReverseLog);
}

}  // namespace
}  // namespace caip::cli
