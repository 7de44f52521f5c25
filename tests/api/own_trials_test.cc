// The optimizer API: trials that a user creates, the completion of trials, and names with slashes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/api/study_world.h"

namespace caip::api {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::string_literals;

Json AWish() {
  return Json::parse(R"([{"parameter": "cell", "stringValue": "gru"},
      {"parameter": "rate", "floatValue": 0.01}, {"parameter": "units", "intValue": "64"}])");
}

Json Losses(double loss) { return {{"metrics", {{{"metric", "loss"}, {"value", loss}}}}}; }

// "trial.parameters: The parameter 'x' has no value. ...", one per line.
std::string ViolationsOf(const Answer& answer) {
  EXPECT_EQ(answer.status, 400) << answer.text;
  std::string text;
  for (const Json& each : answer.json["error"]["details"][0]["fieldViolations"]) {
    text += each.value("field", "") + ": " + each.value("description", "") + "\n";
  }
  return text;
}

TEST(OwnTrials, AreRefusedWithAllViolationsAtOnce) {
  StudyWorld ml;
  ml.Create(AConfig());
  const std::string wrong = ViolationsOf(ml.Post(kTrials, Json::parse(R"({
      "parameters": [{"parameter": "rate", "floatValue": 2},
                     {"parameter": "depth", "intValue": "1"},
                     {"parameter": "units", "intValue": "1"}],
      "state": "ACTIVE",
      "measurements": [{"stepCount": "-1", "elapsedTime": "-2s", "metrics": [{"metric": "x"}]}],
      "finalMeasurement": {"stepCount": "-3"}})")));
  for (const char* part :
       {"trial.parameters: The value '2' of the parameter 'rate'",
        "trial.parameters: The value '1' of the parameter 'units'",
        "trial.parameters: The parameter 'cell' has no value",
        "trial.parameters: The parameter 'depth' is not part of the study",
        "trial.state: A trial cannot be created ACTIVE",
        "trial.measurements[0].step_count: The value must not be negative.",
        "trial.measurements[0].elapsed_time: The value must not be negative.",
        "trial.measurements[0].metrics: The metric 'x' is not a metric of the study.",
        "trial.final_measurement.step_count: The value must not be negative.",
        "trial.final_measurement.metrics: The study's metric 'loss' has no value."}) {
    EXPECT_THAT(wrong, HasSubstr(part));
  }
  EXPECT_EQ(ml.Get(kTrials).json, Json::object()) << "none was created";
}

TEST(OwnTrials, AreNotCheckedFurtherWhereAValueIsWrong) {
  StudyWorld ml;
  Json config = AConfig();
  config["parameters"] = Json::parse(R"([
      {"parameter": "optimizer", "type": "CATEGORICAL",
       "categoricalValueSpec": {"values": ["sgd", "adam"]},
       "childParameterSpecs": [
         {"parameter": "momentum", "type": "DOUBLE", "doubleValueSpec": {"maxValue": 1},
          "parentCategoricalValues": {"values": ["sgd"]}}]}])");
  ml.Create(config);
  const std::string wrong = ViolationsOf(ml.Post(kTrials, Json::parse(R"({"parameters": [
      {"parameter": "optimizer", "stringValue": "SGD"},
      {"parameter": "momentum", "floatValue": 0.5}]})")));
  EXPECT_THAT(wrong, HasSubstr("'SGD'"));
  EXPECT_THAT(wrong, Not(HasSubstr("'momentum'")));
}

TEST(OwnTrials, HaveEachParameterOnceWithOneValue) {
  StudyWorld ml;
  ml.Create(AConfig());
  Json twice = AWish();
  twice.push_back({{"parameter", "rate"}, {"floatValue", 0.02}});
  EXPECT_EQ(ViolationsOf(ml.Post(kTrials, {{"parameters", twice}})),
            "trial.parameters[3]: The parameter 'rate' occurs twice.\n");
  Json both = AWish();
  both[1]["intValue"] = "1";
  EXPECT_THAT(ViolationsOf(ml.Post(kTrials, {{"parameters", both}})),
              HasSubstr("trial.parameters[1]: The parameter 'rate' has several values."));
}

TEST(OwnTrials, MayNotBeCreatedActiveOrStopping) {
  StudyWorld ml;
  ml.Create(AConfig());
  for (const char* state : {"ACTIVE", "STOPPING"}) {
    const Answer answer = ml.Post(kTrials, {{"parameters", AWish()}, {"state", state}});
    EXPECT_THAT(ViolationsOf(answer), HasSubstr("trial.state: "));
  }
  for (const char* state : {"REQUESTED", "STATE_UNSPECIFIED"}) {
    const Answer answer = ml.Post(kTrials, {{"parameters", AWish()}, {"state", state}});
    EXPECT_EQ(answer.json["state"], "REQUESTED") << answer.text;
  }
}

TEST(OwnTrials, MayBeInfeasible) {
  StudyWorld ml;
  Json config = AConfig();
  config["algorithm"] = "GRID_SEARCH";
  config["parameters"] = Json::array({config["parameters"][2]});
  ml.Create(config);
  const Answer made = ml.Post(kTrials, {{"parameters", Json::array({AWish()[0]})},
                                        {"state", "COMPLETED"},
                                        {"trialInfeasible", true},
                                        {"infeasibleReason", "out of memory"}});
  ASSERT_EQ(made.status, 200) << made.text;
  EXPECT_EQ(made.json["state"], "COMPLETED");
  EXPECT_EQ(made.json["trialInfeasible"], true);
  EXPECT_EQ(made.json["infeasibleReason"], "out of memory");
  EXPECT_EQ(made.json["startTime"], made.json["endTime"]);
  const Json left = ml.Suggest(2, "a");
  ASSERT_EQ(left.size(), 1u) << "the infeasible point is not tried again";
  EXPECT_EQ(left[0]["parameters"][0]["stringValue"], "lstm");
}

TEST(OwnTrials, NeedAnOutcomeIfTheyAreCompleted) {
  StudyWorld ml;
  ml.Create(AConfig());
  EXPECT_THAT(ViolationsOf(ml.Post(kTrials, {{"parameters", AWish()}, {"state", "COMPLETED"}})),
              HasSubstr("trial.final_measurement: "));
  Json last = Losses(0.5);
  last["stepCount"] = "7";
  const Answer made = ml.Post(
      kTrials,
      {{"parameters", AWish()}, {"state", "COMPLETED"}, {"measurements", Json::array({last})}});
  EXPECT_EQ(made.json["finalMeasurement"]["stepCount"], "7") << made.text;
}

TEST(OwnTrials, AreSuggestedAfterTheEndOfTheGrid) {
  StudyWorld ml;
  Json config = AConfig();
  config["algorithm"] = "GRID_SEARCH";
  config["parameters"] = Json::array({config["parameters"][2]});
  ml.Create(config);
  EXPECT_EQ(ml.Suggest(5, "a").size(), 2u);
  EXPECT_EQ(ml.Get(kStudy).json["state"], "COMPLETED");
  const Answer made = ml.Post(kTrials, {{"parameters", Json::array({AWish()[0]})}});
  ASSERT_EQ(made.json["state"], "REQUESTED") << made.text;
  const Json given = ml.Suggest(2, "b");
  ASSERT_EQ(given.size(), 1u);
  EXPECT_EQ(given[0]["name"], made.json["name"]);
  EXPECT_EQ(given[0]["clientId"], "b");
  const Answer none = ml.Post(kTrials + ":suggest", {{"suggestionCount", 1}, {"clientId", "c"}});
  EXPECT_EQ(none.status, 400);
  EXPECT_THAT(none.text, HasSubstr("has no REQUESTED trial"));
}

TEST(OwnTrials, StartAndEndAtOnceIfTheyAreCompletedWithoutASuggestion) {
  StudyWorld ml;
  ml.Create(AConfig());
  const Json made = ml.Post(kTrials, {{"parameters", AWish()}}).json;
  EXPECT_FALSE(made.contains("startTime"));
  const Answer done = ml.Complete(PathOf(made), 0.5);
  EXPECT_TRUE(done.json.contains("endTime")) << done.text;
  EXPECT_EQ(done.json["startTime"], done.json["endTime"]);
}

TEST(Completion, TakesTheLastMeasurementThatHasAllMetrics) {
  StudyWorld ml;
  Json config = AConfig();
  config["metrics"].push_back({{"goal", "MAXIMIZE"}, {"metric", "accuracy"}});
  ml.Create(config);
  const std::string trial = PathOf(ml.Suggest(1, "a")[0]);
  const auto measure = [&](int step, const Json& metrics) {
    const Answer answer =
        ml.Post(trial + ":addMeasurement",
                {{"measurement", {{"stepCount", std::to_string(step)}, {"metrics", metrics}}}});
    EXPECT_EQ(answer.status, 200) << answer.text;
  };
  const Json loss = {{"metric", "loss"}, {"value", 0.5}};
  const Json accuracy = {{"metric", "accuracy"}, {"value", 0.9}};
  measure(1, Json::array({loss}));
  const Answer early = ml.Post(trial + ":complete", Json::object());
  EXPECT_EQ(early.status, 400) << "accuracy was never measured";
  EXPECT_THAT(early.text, HasSubstr("has all metrics of the study"));
  measure(2, Json::array({loss, accuracy}));
  measure(3, Json::array({accuracy}));
  measure(4, Json::array());
  const Answer done = ml.Post(trial + ":complete", Json::object());
  EXPECT_EQ(done.json["finalMeasurement"]["stepCount"], "2") << done.text;
  const Json best = ml.Post(kTrials + ":listOptimalTrials", Json::object()).json;
  EXPECT_EQ(best["trials"].size(), 1u);
}

TEST(Measurements, RefuseNegativeProgress) {
  StudyWorld ml;
  ml.Create(AConfig());
  const std::string trial = PathOf(ml.Suggest(1, "a")[0]);
  Json measurement = Losses(0.5);
  measurement["stepCount"] = "-1";
  EXPECT_EQ(ViolationsOf(ml.Post(trial + ":addMeasurement", {{"measurement", measurement}})),
            "measurement.step_count: The value must not be negative.\n");
  measurement["stepCount"] = "1";
  measurement["elapsedTime"] = "-0.5s";
  EXPECT_EQ(ViolationsOf(ml.Post(trial + ":addMeasurement", {{"measurement", measurement}})),
            "measurement.elapsed_time: The value must not be negative.\n");
  EXPECT_EQ(ViolationsOf(ml.Post(trial + ":complete", {{"finalMeasurement", measurement}})),
            "final_measurement.elapsed_time: The value must not be negative.\n");
}

TEST(Measurements, HaveALimitForMetrics) {
  StudyWorld ml;
  ml.Create(AConfig());
  const std::string trial = PathOf(ml.Suggest(1, "a")[0]);
  Json measurement = Losses(0.5);
  while (measurement["metrics"].size() < 101) {
    measurement["metrics"].push_back({{"metric", "other"}, {"value", 1}});
  }
  EXPECT_EQ(ViolationsOf(ml.Post(trial + ":complete", {{"finalMeasurement", measurement}})),
            "final_measurement.metrics: A measurement has at most 100 metrics, not 101.\n");
}

TEST(Names, WithASlashAreNotFound) {
  StudyWorld ml;
  ml.Create(AConfig());
  ml.Suggest(2, "a");
  const std::string encoded = kStudies + "/s1%2Ftrials%2F1";
  for (const std::string& path :
       {encoded, encoded + "/trials", kStudies + "/s1%2f", kTrials + "/1%2F",
        "/v1/projects/demo/locations/us-central1/operations/..%2Fstudies%2Fs1"s}) {
    const Answer answer = ml.Get(path);
    EXPECT_EQ(answer.status, 404) << path << "\n" << answer.text;
    EXPECT_THAT(answer.text, HasSubstr("could not be found"));
    EXPECT_THAT(answer.text, Not(HasSubstr("Training jobs")));
  }
  EXPECT_EQ(ml.Ask("DELETE", encoded).status, 404);
  EXPECT_EQ(ml.Get(kTrials).json["trials"].size(), 2u) << "none was deleted";
  EXPECT_EQ(
      ml.Post(encoded + "/trials:suggest", {{"suggestionCount", 1}, {"clientId", "c"}}).status,
      404);
}

}  // namespace
}  // namespace caip::api
