// The optimizer API: studies, trials, suggestions, early stopping, the best trials.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "google/transcoder.h"
#include "ml/schema/study_schema.h"
#include "tests/api/study_world.h"

namespace caip::api {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Studies, AreCreatedReadListedAndDeleted) {
  StudyWorld ml;
  const Answer made = ml.Create(AConfig());
  ASSERT_EQ(made.status, 200) << made.text;
  EXPECT_EQ(made.json["name"], "projects/demo/locations/us-central1/studies/s1");
  EXPECT_EQ(made.json["state"], "ACTIVE");
  EXPECT_THAT(made.json.value("createTime", ""), HasSubstr("Z"));
  EXPECT_EQ(made.json["studyConfig"]["parameters"][1]["integerValueSpec"]["maxValue"], "400");
  EXPECT_EQ(ml.Get(kStudy).json, made.json);
  EXPECT_EQ(ml.Create(AConfig()).status, 409);
  ASSERT_EQ(ml.Create(AConfig(), "s2").status, 200);
  EXPECT_EQ(ml.Get(kStudies).json["studies"].size(), 2u);
  ml.Suggest(1, "a");
  EXPECT_EQ(ml.Ask("DELETE", kStudy).json, Json::object());
  EXPECT_EQ(ml.Get(kStudy).status, 404);
  EXPECT_EQ(ml.Get(kTrials + "/1").status, 404);
  EXPECT_EQ(ml.Ask("DELETE", kStudy).status, 404);
  EXPECT_EQ(ml.Get(kStudies).json["studies"].size(), 1u);
}

TEST(Studies, OfOtherProjectsAndLocationsAreNotVisible) {
  StudyWorld ml;
  ml.Create(AConfig());
  EXPECT_EQ(ml.Get("/v1/projects/other/locations/us-central1/studies").json, Json::object());
  EXPECT_EQ(ml.Get("/v1/projects/demo/locations/us-east1/studies/s1").status, 404);
  EXPECT_THAT(ml.Get("/v1/projects/demo/locations/atlantis/studies").text, HasSubstr("atlantis"));
}

TEST(Studies, AreRefusedWithAllViolationsAtOnce) {
  StudyWorld ml;
  Json config = Json::parse(R"({
    "metrics": [{"metric": "a"}, {"goal": "MAXIMIZE", "metric": "a"}],
    "algorithm": "GRID_SEARCH",
    "automatedStoppingConfig": {"decayCurveStoppingConfig": {},
                                "medianAutomatedStoppingConfig": {}},
    "parameters": [
      {"parameter": "x", "type": "DOUBLE", "doubleValueSpec": {"minValue": 2, "maxValue": 1}},
      {"parameter": "x", "type": "INTEGER", "scaleType": "UNIT_LOG_SCALE",
       "integerValueSpec": {"minValue": "0", "maxValue": "3"}},
      {"parameter": "d", "type": "DISCRETE", "discreteValueSpec": {"values": [1, 1]}},
      {"parameter": "c", "type": "CATEGORICAL", "scaleType": "UNIT_LINEAR_SCALE",
       "doubleValueSpec": {"minValue": 1}},
      {"type": "CATEGORICAL", "categoricalValueSpec": {"values": ["a", "a"]},
       "childParameterSpecs": [
         {"parameter": "k", "type": "DOUBLE", "doubleValueSpec": {"maxValue": 1},
          "parentCategoricalValues": {"values": ["b"]}},
         {"parameter": "l", "type": "DOUBLE", "doubleValueSpec": {"maxValue": 1},
          "parentIntValues": {"values": ["1"]}}]},
      {"parameter": "n"}]})");
  const Answer answer = ml.Create(config);
  EXPECT_EQ(answer.status, 400);
  std::set<std::string> fields;
  for (const Json& violation : answer.json["error"]["details"][0]["fieldViolations"]) {
    const std::string field = violation["field"];
    EXPECT_THAT(field, StartsWith("study.study_config."));
    fields.insert(field.substr(std::string("study.study_config.").size()));
  }
  for (const char* field :
       {"metrics[0].goal", "metrics[1].metric", "automated_stopping_config", "parameters[0].type",
        "parameters[0].double_value_spec", "parameters[1].parameter",
        "parameters[1].integer_value_spec", "parameters[2].discrete_value_spec.values",
        "parameters[3].double_value_spec", "parameters[3].categorical_value_spec",
        "parameters[4].parameter", "parameters[4].categorical_value_spec.values",
        "parameters[4].child_parameter_specs[0].parent_categorical_values.values",
        "parameters[4].child_parameter_specs[1].parent_int_values",
        "parameters[4].child_parameter_specs[1].parent_categorical_values", "parameters[5].type"}) {
    EXPECT_TRUE(fields.count(field)) << field << "\n" << answer.text;
  }
  EXPECT_EQ(ml.Create(AConfig(), "bad%20id").status, 400);
  EXPECT_EQ(ml.Post(kStudies + "?studyId=x", Json::object()).status, 400);
  const Answer unknown = ml.Post(kStudies + "?studyId=x", {{"studyconfig", 1}});
  EXPECT_THAT(unknown.text, HasSubstr("Unknown name"));
}

// docs/service/api.md, section 1: default-valued fields are omitted. A oneof shows that it is set.
TEST(Studies, ShowNoZerosButThoseOfAOneof) {
  StudyWorld ml;
  const Json config = Json::parse(R"({
    "metrics": [{"goal": "MINIMIZE", "metric": "loss"}],
    "automatedStoppingConfig": {"medianAutomatedStoppingConfig": {"useElapsedTime": false}},
    "parameters": [
      {"parameter": "x", "type": "INTEGER", "integerValueSpec": {"minValue": "0", "maxValue": "3"}},
      {"parameter": "y", "type": "DISCRETE", "discreteValueSpec": {"values": [0, 1]}}]})");
  const Answer made = ml.Create(config);
  ASSERT_EQ(made.status, 200) << made.text;
  const Json& shown = made.json["studyConfig"];
  EXPECT_EQ(shown["parameters"][0]["integerValueSpec"], Json({{"maxValue", "3"}}));
  EXPECT_EQ(shown["parameters"][1]["discreteValueSpec"]["values"], Json::array({0, 1}));
  EXPECT_EQ(shown["automatedStoppingConfig"],
            Json({{"medianAutomatedStoppingConfig", Json::object()}}));
  const Json zeros = Json::parse(R"([{"parameter": "x", "intValue": "0"},
                                     {"parameter": "y", "floatValue": 0}])");
  ASSERT_EQ(ml.Post(kTrials, {{"parameters", zeros}}).status, 200);
  const Json trial = ml.Suggest(1, "a")[0];
  EXPECT_EQ(trial["parameters"], zeros);
  const std::string path = "/v1/" + trial["name"].get<std::string>();
  const Answer measured = ml.Measure(path, 0, 0);
  ASSERT_EQ(measured.status, 200) << measured.text;
  EXPECT_EQ(measured.json["measurements"][0]["metrics"], Json::parse(R"([{"metric": "loss"}])"));
  EXPECT_FALSE(measured.json["measurements"][0].contains("stepCount"));
}

TEST(Suggestions, AreAFinishedOperation) {
  StudyWorld ml;
  ml.Create(AConfig());
  const Answer answer =
      ml.Post(kTrials + ":suggest", {{"suggestionCount", 2}, {"clientId", "worker-0"}});
  ASSERT_EQ(answer.status, 200) << answer.text;
  EXPECT_EQ(answer.json["done"], true);
  EXPECT_EQ(answer.json["metadata"]["@type"],
            "type.googleapis.com/google.cloud.ml.v1.SuggestTrialsMetadata");
  EXPECT_EQ(answer.json["metadata"]["clientId"], "worker-0");
  EXPECT_EQ(answer.json["response"]["studyState"], "ACTIVE");
  const Json trials = answer.json["response"]["trials"];
  ASSERT_EQ(trials.size(), 2u);
  EXPECT_EQ(trials[1]["name"], "projects/demo/locations/us-central1/studies/s1/trials/2");
  EXPECT_EQ(trials[0]["state"], "ACTIVE");
  EXPECT_NE(trials[0]["parameters"], trials[1]["parameters"]);
  const std::string name = "/v1/" + answer.json.value("name", "");
  EXPECT_EQ(ml.Get(name).json, answer.json);
  EXPECT_EQ(ml.Post(name + ":cancel", Json::object()).json, Json::object());
  EXPECT_EQ(ml.Get(kTrials).json["trials"], trials);
}

TEST(Suggestions, AreRepeatedForAClientUntilItCompletesThem) {
  StudyWorld ml;
  ml.Create(AConfig());
  const Json first = ml.Suggest(1, "a");
  EXPECT_EQ(ml.Suggest(1, "a"), first);
  EXPECT_NE(ml.Suggest(1, "b"), first);
  ASSERT_EQ(ml.Complete(PathOf(first[0]), 0.5).status, 200);
  const Json next = ml.Suggest(1, "a");
  EXPECT_EQ(PathOf(next[0]), kTrials + "/3");
  EXPECT_EQ(ml.Suggest(2, "a")[0], next[0]);
}

TEST(Suggestions, NeedACountAndAClient) {
  StudyWorld ml;
  ml.Create(AConfig());
  const Answer answer = ml.Post(kTrials + ":suggest", {{"suggestionCount", 0}});
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.json["error"]["details"][0]["fieldViolations"].size(), 2u);
  EXPECT_EQ(ml.Post(kStudies + "/none/trials:suggest", {{"suggestionCount", 1}}).status, 404);
}

TEST(Suggestions, EndWithTheGrid) {
  StudyWorld ml;
  Json config = AConfig();
  config["algorithm"] = "GRID_SEARCH";
  config["parameters"] = Json::array({config["parameters"][2]});
  ASSERT_EQ(ml.Create(config).status, 200);
  const Answer answer = ml.Post(kTrials + ":suggest", {{"suggestionCount", 5}, {"clientId", "a"}});
  EXPECT_EQ(answer.json["response"]["trials"].size(), 2u);
  EXPECT_EQ(answer.json["response"]["studyState"], "COMPLETED");
  EXPECT_EQ(ml.Get(kStudy).json["state"], "COMPLETED");
  EXPECT_EQ(ml.Post(kTrials + ":suggest", {{"suggestionCount", 1}, {"clientId", "b"}}).status, 400);
}

TEST(Suggestions, BeginWithTrialsOfTheUser) {
  StudyWorld ml;
  ml.Create(AConfig());
  const Json request = Json::parse(R"([{"parameter": "cell", "stringValue": "gru"},
      {"parameter": "rate", "floatValue": 0.01}, {"parameter": "units", "intValue": "64"}])");
  const Answer made = ml.Post(kTrials, {{"parameters", request}});
  ASSERT_EQ(made.status, 200) << made.text;
  EXPECT_EQ(made.json["state"], "REQUESTED");
  EXPECT_EQ(ml.Suggest(1, "a")[0]["parameters"], request);
  Json outside = request;
  outside[2]["intValue"] = "1";
  EXPECT_THAT(ml.Post(kTrials, {{"parameters", outside}}).text, HasSubstr("'units'"));
  const Answer known =
      ml.Post(kTrials, {{"parameters", request},
                        {"finalMeasurement", {{"metrics", {{{"metric", "loss"}, {"value", 1}}}}}}});
  EXPECT_EQ(known.json["state"], "COMPLETED");
}

TEST(Trials, AreMeasuredInOrderAndCompleted) {
  StudyWorld ml;
  ml.Create(AConfig());
  const std::string trial = PathOf(ml.Suggest(1, "a")[0]);
  EXPECT_EQ(ml.Post(trial + ":complete", Json::object()).status, 400) << "nothing was measured";
  EXPECT_EQ(ml.Measure(trial, 10, 0.9).status, 200);
  EXPECT_EQ(ml.Measure(trial, 10, 0.8).status, 400) << "the same step";
  EXPECT_EQ(ml.Measure(trial, 20, "NaN").status, 200);
  EXPECT_THAT(ml.Post(trial + ":addMeasurement",
                      {{"measurement", {{"stepCount", 30}, {"metrics", {{{"metric", "x"}}}}}}})
                  .text,
              HasSubstr("'x'"));
  const Json shown = ml.Get(trial).json;
  EXPECT_EQ(shown["measurements"][1]["metrics"][0]["value"], "NaN");
  const Answer done = ml.Post(trial + ":complete", Json::object());
  EXPECT_EQ(done.json["state"], "COMPLETED");
  EXPECT_EQ(done.json["finalMeasurement"], shown["measurements"][1]) << "the last one counts";
  EXPECT_EQ(ml.Complete(trial, 1).status, 400);
  EXPECT_EQ(ml.Measure(trial, 40, 1).status, 400);
  EXPECT_EQ(ml.Suggest(1, "a").size(), 1u) << "NaN does not stop the optimizer";
  EXPECT_EQ(ml.Ask("DELETE", trial).status, 200);
  EXPECT_EQ(ml.Get(trial).status, 404);
}

TEST(Trials, MayBeInfeasible) {
  StudyWorld ml;
  ml.Create(AConfig());
  const std::string trial = PathOf(ml.Suggest(1, "a")[0]);
  const Answer done = ml.Post(trial + ":complete",
                              {{"trialInfeasible", true}, {"infeasibleReason", "out of memory"}});
  EXPECT_EQ(done.json["trialInfeasible"], true);
  EXPECT_EQ(done.json["infeasibleReason"], "out of memory");
  EXPECT_FALSE(done.json.contains("finalMeasurement"));
  EXPECT_EQ(ml.Post(kTrials + ":listOptimalTrials", Json::object()).json, Json::object());
}

TEST(Trials, AreStoppedByTheMedianRule) {
  StudyWorld ml;
  Json config = AConfig();
  config["automatedStoppingConfig"] = {{"medianAutomatedStoppingConfig", Json::object()}};
  ml.Create(config);
  const Json trials = ml.Suggest(3, "a");
  ml.Measure(PathOf(trials[0]), 10, 0.2);
  ml.Complete(PathOf(trials[0]), 0.1);
  ml.Measure(PathOf(trials[1]), 10, 0.9);
  ml.Measure(PathOf(trials[2]), 10, 0.15);
  const auto check = [&](const Json& trial) {
    const Answer answer = ml.Post(PathOf(trial) + ":checkEarlyStoppingState", Json::object());
    EXPECT_EQ(answer.json["done"], true) << answer.text;
    EXPECT_EQ(answer.json["metadata"]["trial"], trial["name"]);
    EXPECT_EQ(ml.Get("/v1/" + answer.json.value("name", "")).json, answer.json);
    return answer.json["response"].value("shouldStop", false);
  };
  EXPECT_TRUE(check(trials[1]));
  EXPECT_EQ(ml.Get(PathOf(trials[1])).json["state"], "STOPPING");
  ASSERT_EQ(ml.said.size(), 1u);
  EXPECT_THAT(ml.said[0],
              StartsWith("projects/demo/locations/us-central1/studies/s1/trials/2 should "
                         "stop: The best objective value 0.9 up to step 10 is worse"));
  EXPECT_FALSE(check(trials[2]));
  EXPECT_EQ(ml.said.size(), 1u);
  EXPECT_EQ(ml.Get(PathOf(trials[2])).json["state"], "ACTIVE");
  EXPECT_EQ(ml.Post(PathOf(trials[2]) + ":stop", Json::object()).json["state"], "STOPPING");
}

TEST(OptimalTrials, AreTheParetoSet) {
  StudyWorld ml;
  Json config = AConfig();
  config["metrics"].push_back({{"goal", "MAXIMIZE"}, {"metric", "accuracy"}});
  ml.Create(config);
  const std::pair<double, double> outcomes[] = {{1, 0.9}, {0.5, 0.8}, {2, 0.7}};
  for (const auto& [loss, accuracy] : outcomes) {
    const Json trial = ml.Suggest(1, "a")[0];
    EXPECT_EQ(ml.Complete(PathOf(trial), loss).status, 400) << "without accuracy";
    const Json metrics = {{{"metric", "loss"}, {"value", loss}},
                          {{"metric", "accuracy"}, {"value", accuracy}}};
    ASSERT_EQ(
        ml.Post(PathOf(trial) + ":complete", {{"finalMeasurement", {{"metrics", metrics}}}}).status,
        200);
  }
  const Json best = ml.Post(kTrials + ":listOptimalTrials", Json::object()).json["trials"];
  ASSERT_EQ(best.size(), 2u);
  EXPECT_EQ(PathOf(best[0]), kTrials + "/1");
  EXPECT_EQ(PathOf(best[1]), kTrials + "/2");
}

TEST(Studies, SuggestConditionalParametersOnlyUnderTheirCondition) {
  StudyWorld ml;
  Json config = AConfig();
  config["algorithm"] = "RANDOM_SEARCH";
  config["parameters"] = Json::parse(R"([
      {"parameter": "optimizer", "type": "CATEGORICAL",
       "categoricalValueSpec": {"values": ["sgd", "adam"]},
       "childParameterSpecs": [
         {"parameter": "momentum", "type": "DOUBLE",
          "doubleValueSpec": {"minValue": 0.5, "maxValue": 0.99},
          "parentCategoricalValues": {"values": ["sgd"]}}]}])");
  ASSERT_EQ(ml.Create(config).status, 200);
  std::set<std::string> seen;
  for (const Json& trial : ml.Suggest(20, "a")) {
    std::map<std::string, Json> values;
    for (const Json& parameter : trial["parameters"]) values[parameter["parameter"]] = parameter;
    const std::string optimizer = values["optimizer"]["stringValue"];
    seen.insert(optimizer);
    EXPECT_EQ(values.count("momentum"), optimizer == "sgd" ? 1u : 0u);
  }
  EXPECT_EQ(seen.size(), 2u);
}

TEST(StudyStore, KeepsEverythingOverARestart) {
  TemporaryDirectory directory;
  VirtualClock clock(kMorning);
  const std::string parent = "projects/p/locations/l";
  const auto open = [&] { return *StudyStore::Open(directory.path() / "studies.db"); };
  Json suggested;
  {
    const auto store = open();
    StudyService service(*store, clock, 1);
    std::vector<FieldViolation> none;
    const Json study =
        google::ReadMessage({{"studyConfig", AConfig()}}, ml::StudySchema(), "study", none);
    ASSERT_TRUE(service.CreateStudy(parent, "s", study).ok());
    suggested =
        *service.Suggest(parent + "/studies/s", {{"suggestion_count", 1}, {"client_id", "a"}});
  }
  const auto store = open();
  StudyService service(*store, clock, 1);
  EXPECT_EQ(*service.GetOperation(suggested["name"]), suggested);
  EXPECT_EQ(service.ListTrials(parent + "/studies/s")->size(), 1u);
  const auto again =
      service.Suggest(parent + "/studies/s", {{"suggestion_count", 1}, {"client_id", "b"}});
  EXPECT_THAT((*again)["response"]["trials"][0].value("name", ""), HasSubstr("/trials/2"));
}

TEST(StudyStore, IsOpenedAtItsFirstUse) {
  TemporaryDirectory directory;
  const Path file = directory.path() / "studies.db";
  const auto store = StudyStore::OpenLater(file);
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_TRUE(store->Apply({{"p", "p/a", Json{{"x", 1}}}}).ok());
  EXPECT_EQ(**store->Get("p/a"), (Json{{"x", 1}}));
  ASSERT_TRUE(WriteFile(directory.path() / "broken.db", std::string(5000, 'x')).ok());
  const auto broken = StudyStore::OpenLater(directory.path() / "broken.db");
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(broken->Get("p/a").error().message, HasSubstr("broken.db"));
  }
}

}  // namespace
}  // namespace caip::api
