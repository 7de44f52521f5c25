// What `caip jobs trials` shows.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/json.h"
#include "base/text.h"
#include "emulator/cli/study_plot.h"
#include "emulator/cli/study_table.h"

namespace caip::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TrialView ATrial(const std::string& id, double rate, const std::string& kind, double value) {
  TrialView trial;
  trial.id = id;
  trial.state = "SUCCEEDED";
  trial.values = {{"rate", std::to_string(rate)}, {"kind", kind}};
  trial.curve = {{10, value / 2}, {20, value}};
  trial.final_metric = {20, value};
  trial.start_time = Instant(std::chrono::seconds(100));
  trial.end_time = Instant(std::chrono::seconds(103));
  return trial;
}

StudyView AStudy() {
  StudyView study;
  study.job_id = "j";
  study.state = "RUNNING";
  study.metric = "accuracy";
  study.max_trials = 20;
  study.parameters = {{"rate", true, true, {}, 0.01, 1}, {"kind", false, false, {"a", "b"}, 0, 1}};
  for (int i = 1; i <= 8; ++i) {
    study.trials.push_back(
        ATrial(std::to_string(i), 0.1 * i, i % 2 ? "a" : "b", i % 2 ? 0.9 : 0.1));
  }
  return study;
}

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
  const auto study = ReadStudy(*ParseJson(kAnswer));
  ASSERT_TRUE(study.ok()) << study.error().message;
  EXPECT_FALSE(study->maximize);
  EXPECT_EQ(study->max_trials, 5);
  ASSERT_EQ(study->trials.size(), 2u);
  EXPECT_EQ(study->trials[0].id, "2");  // by number
  EXPECT_EQ(study->trials[0].curve.size(), 3u);
  EXPECT_TRUE(std::isnan(study->trials[0].curve[1].second));
  EXPECT_EQ(study->trials[1].final_metric, std::pair(int64_t{7}, 0.25));
  EXPECT_TRUE(study->parameters[0].logarithmic);
  EXPECT_EQ(study->parameters[1].choices, (std::vector<std::string>{"0.5", "16"}));
  EXPECT_EQ(study->Best()->id, "10");
}

TEST(Study, OfAJobThatTunesNothingIsAnError) {
  const auto study = ReadStudy(*ParseJson(R"({"job": {"jobId": "j", "trainingInput": {}}})"));
  ASSERT_FALSE(study.ok());
  EXPECT_THAT(study.error().message, HasSubstr("has no hyperparameters"));
}

TEST(StudyTable, ShowsTrialsBestAndCurves) {
  const auto study = ReadStudy(*ParseJson(kAnswer));
  EXPECT_EQ(StudyTable(*study, *ParseRfc3339("2022-02-09T09:00:30Z")),
            "j  RUNNING  2 of 5 trials, 1 running, 1 succeeded; MINIMIZE accuracy\n"
            "TRIAL  STATE      ACCURACY  STEP  TIME   CURVE  rate  size\n"
            "  2    RUNNING    1         3     10.0s  █×▁    0.2   0.5\n"
            "* 10   SUCCEEDED  0.25      7     2.00s         0.5   16\n"
            "best so far: trial 10, accuracy 0.25 at step 7: rate=0.5, size=16\n");
}

TEST(StudyTable, TellsATrialInALine) {
  const auto study = ReadStudy(*ParseJson(kAnswer));
  EXPECT_EQ(TrialLine(*study, study->trials[1]),
            "trial 10 SUCCEEDED accuracy=0.25 at step 7, rate=0.5, size=16\n");
}

TEST(Sparkline, HasEightHeightsAndAWidth) {
  std::vector<std::pair<int64_t, double>> curve;
  EXPECT_EQ(Sparkline(curve, 8), "");
  for (int i = 0; i < 8; ++i) curve.emplace_back(i, i);
  EXPECT_EQ(Sparkline(curve, 8), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(Sparkline(curve, 2), "▁█");
  EXPECT_EQ(Sparkline({{1, 5}}, 8), "▅");
  EXPECT_EQ(Sparkline({{1, INFINITY}, {2, 0}, {3, 1}}, 8), "×▁█");
}

TEST(Importance, IsOfTheParameterThatMatters) {
  const std::vector<double> importance = ImportanceOf(AStudy());
  ASSERT_EQ(importance.size(), 2u);
  EXPECT_LT(importance[0], 0.5);
  EXPECT_GT(importance[1], 0.99);
}

TEST(Importance, IsUnknownOfFewTrials) {
  StudyView study = AStudy();
  study.trials.resize(4);
  EXPECT_TRUE(ImportanceOf(study).empty());
}

TEST(StudyPlot, IsOnePictureWithAllTrials) {
  StudyView study = AStudy();
  study.trials[3].final_metric.reset();  // a trial without a metric is a cross
  study.metric = "<accuracy & co>";
  const std::string picture = StudyPicture(study);
  EXPECT_THAT(picture, ::testing::StartsWith("<svg xmlns="));
  size_t circles = 0;
  for (size_t at = picture.find("<circle"); at != std::string::npos;
       at = picture.find("<circle", at + 1)) {
    ++circles;
  }
  EXPECT_EQ(circles, 7u);
  EXPECT_THAT(picture, HasSubstr("×"));
  EXPECT_THAT(picture, HasSubstr("&lt;accuracy &amp; co&gt;"));
  EXPECT_THAT(picture, Not(HasSubstr("<accuracy")));
  EXPECT_THAT(picture, Not(HasSubstr("nan")));
}

TEST(StudyPlot, OfAnEmptyStudyIsAPicture) {
  StudyView study = AStudy();
  study.trials.clear();
  EXPECT_THAT(StudyPicture(study), HasSubstr("Too few trials have succeeded."));
  EXPECT_THAT(StudyPage(study), HasSubstr("<!DOCTYPE html>"));
}

}  // namespace
}  // namespace caip::cli
