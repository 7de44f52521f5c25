// A study's config by itself: what of it the optimizer gets, and all that can be wrong with it.

#include "tuning/study_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"

namespace caip::tuning {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Json Parsed(const std::string& text) { return *ParseJson(text); }

// As the transcoder gives it: names in snake_case, 64-bit integers as numbers.
Json AConfig() {
  return Parsed(R"({
    "metrics": [{"goal": "MINIMIZE", "metric": "loss"}],
    "parameters": [
      {"parameter": "rate", "type": "DOUBLE", "scale_type": "UNIT_LOG_SCALE",
       "double_value_spec": {"min_value": 0.001, "max_value": 0.1}},
      {"parameter": "units", "type": "INTEGER",
       "integer_value_spec": {"min_value": 40, "max_value": 400}},
      {"parameter": "batch", "type": "DISCRETE", "discrete_value_spec": {"values": [16, 32.5]}},
      {"parameter": "cell", "type": "CATEGORICAL",
       "categorical_value_spec": {"values": ["gru", "lstm"]}}]})");
}

// "field: description" of each violation, without the fields' common beginning.
std::vector<std::string> Broken(const Json& config) {
  const auto read = ReadStudyConfig(config);
  if (read.ok()) return {};
  EXPECT_EQ(read.error().code, Code::kInvalidArgument);
  std::vector<std::string> broken;
  for (const FieldViolation& violation : read.error().violations) {
    EXPECT_THAT(violation.field, ::testing::StartsWith("study.study_config."));
    EXPECT_NE(violation.description, "");
    broken.push_back(violation.field.substr(19));
  }
  return broken;
}

TEST(StudyConfig, HasAtMostAThousandParameters) {
  Json config = AConfig();
  const Json rate = config["parameters"][0];
  for (int i = 4; i < 1000; ++i) {
    config["parameters"].push_back(rate);
    config["parameters"].back()["parameter"] = "rate" + std::to_string(i);
  }
  EXPECT_THAT(Broken(config), IsEmpty());
  config["parameters"].push_back(rate);
  config["parameters"].back()["parameter"] = "one more";
  EXPECT_THAT(Broken(config), ElementsAre("parameters"));
  EXPECT_EQ(ReadStudyConfig(config).error().violations[0].description,
            "A study has at most 1000 parameters, not 1001.");
}

// What is too long is not examined further: metrics and values are compared with one another.
TEST(StudyConfig, HasLimitsForMetricsAndValues) {
  Json config = AConfig();
  for (int i = 1; i < 100; ++i) {
    config["metrics"].push_back({{"goal", "MINIMIZE"}, {"metric", "m" + std::to_string(i)}});
  }
  Json& cell = config["parameters"][3];
  for (int i = 2; i < 1000; ++i) {
    cell["categorical_value_spec"]["values"].push_back("c" + std::to_string(i));
  }
  Json child = config["parameters"][0];
  child["parameter"] = "child";
  child["parent_categorical_values"] = cell["categorical_value_spec"];
  cell["child_parameter_specs"] = {child};
  EXPECT_THAT(Broken(config), IsEmpty());
  cell["child_parameter_specs"][0]["parent_categorical_values"]["values"].push_back("gru");
  const std::string at = "parameters[3].child_parameter_specs[0].parent_categorical_values.values";
  EXPECT_THAT(Broken(config), ElementsAre(at));
  cell.erase("child_parameter_specs");
  cell["categorical_value_spec"]["values"].push_back("one more");
  EXPECT_THAT(Broken(config), ElementsAre("parameters[3].categorical_value_spec.values"));
  cell["categorical_value_spec"]["values"].erase(1000);
  config["metrics"].push_back({{"goal", "MINIMIZE"}, {"metric", "one more"}});
  EXPECT_THAT(Broken(config), ElementsAre("metrics"));
  EXPECT_EQ(ReadStudyConfig(config).error().violations[0].description,
            "A study has at most 100 metrics, not 101.");
}

TEST(StudyConfig, GivesTheOptimizerItsSpaceGoalsAndAlgorithm) {
  const auto config = ReadStudyConfig(AConfig());
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_THAT(config->metrics, ElementsAre("loss"));
  EXPECT_THAT(config->study.goals, ElementsAre(Goal::kMinimize));
  EXPECT_EQ(config->study.algorithm, Algorithm::kBayesian);
  EXPECT_EQ(config->stopping, StoppingRule::kNone);
  const std::vector<Parameter>& parameters = config->study.space.parameters();
  ASSERT_EQ(parameters.size(), 4u);
  EXPECT_EQ(parameters[0].name, "rate");
  EXPECT_EQ(parameters[0].scale, Scale::kLog);
  EXPECT_EQ(parameters[0].least, 0.001);
  EXPECT_EQ(parameters[0].most, 0.1);
  EXPECT_EQ(parameters[1].type, ValueType::kInteger);
  EXPECT_EQ(parameters[1].least_integer, 40);
  EXPECT_EQ(parameters[1].most_integer, 400);
  EXPECT_THAT(parameters[2].numbers, ElementsAre(16, 32.5));
  EXPECT_THAT(parameters[3].categories, ElementsAre("gru", "lstm"));
}

TEST(StudyConfig, KnowsEachAlgorithm) {
  const std::pair<const char*, Algorithm> names[] = {
      {"ALGORITHM_UNSPECIFIED", Algorithm::kBayesian},
      {"GAUSSIAN_PROCESS_BANDIT", Algorithm::kBayesian},
      {"RANDOM_SEARCH", Algorithm::kRandom}};
  for (const auto& [name, algorithm] : names) {
    Json config = AConfig();
    config["algorithm"] = name;
    EXPECT_EQ(ReadStudyConfig(config)->study.algorithm, algorithm) << name;
  }
  Json grid = AConfig();
  grid["algorithm"] = "GRID_SEARCH";
  EXPECT_THAT(Broken(grid), ElementsAre("parameters[0].type"));
  grid["parameters"].erase(0);
  EXPECT_EQ(ReadStudyConfig(grid)->study.algorithm, Algorithm::kGrid);
}

TEST(StudyConfig, MayHaveSeveralMetrics) {
  Json config = AConfig();
  config["metrics"].push_back({{"metric", "speed"}, {"goal", "MAXIMIZE"}});
  const auto read = ReadStudyConfig(config);
  EXPECT_THAT(read->metrics, ElementsAre("loss", "speed"));
  EXPECT_THAT(read->study.goals, ElementsAre(Goal::kMinimize, Goal::kMaximize));
  config["metrics"].push_back({{"metric", "speed"}, {"goal", "MAXIMIZE"}});
  config["metrics"].push_back({{"metric", ""}, {"goal", "GOAL_TYPE_UNSPECIFIED"}});
  EXPECT_THAT(Broken(config),
              ElementsAre("metrics[2].metric", "metrics[3].metric", "metrics[3].goal"));
}

TEST(StudyConfig, HasOneStoppingRuleByStepsOrByTime) {
  Json config = AConfig();
  Json& stopping = config["automated_stopping_config"];
  stopping["median_automated_stopping_config"] = Json::object();
  auto read = ReadStudyConfig(config);
  EXPECT_EQ(read->stopping, StoppingRule::kMedian);
  EXPECT_EQ(read->progress, Progress::kSteps);
  stopping = {{"decay_curve_stopping_config", {{"use_elapsed_time", true}}}};
  read = ReadStudyConfig(config);
  EXPECT_EQ(read->stopping, StoppingRule::kDecayCurve);
  EXPECT_EQ(read->progress, Progress::kElapsedTime);
  stopping["median_automated_stopping_config"] = Json::object();
  EXPECT_THAT(Broken(config), ElementsAre("automated_stopping_config"));
}

TEST(StudyConfig, HasChildrenThatTheirParentsValuesCallFor) {
  Json config = AConfig();
  config["parameters"][3]["child_parameter_specs"] = Parsed(R"([
    {"parameter": "gates", "type": "INTEGER", "parent_categorical_values": {"values": ["lstm"]},
     "integer_value_spec": {"min_value": 1, "max_value": 3}}])");
  const auto read = ReadStudyConfig(config);
  ASSERT_TRUE(read.ok()) << read.error().message;
  const Parameter& gates = read->study.space.parameters().at(4);
  EXPECT_EQ(gates.parent, size_t{3});
  EXPECT_THAT(gates.parent_values, ElementsAre(Value(std::string("lstm"))));
}

TEST(StudyConfig, OfChildrenTellsWhatIsNoneOfTheParents) {
  Json config = AConfig();
  Json child = Parsed(R"({"parameter": "a", "type": "INTEGER",
                          "integer_value_spec": {"min_value": 1, "max_value": 3}})");
  Json stranger = child;
  stranger["parameter"] = "b";
  stranger["parent_categorical_values"] = {{"values", {"gru", "rnn"}}};
  Json misplaced = stranger;
  misplaced["parameter"] = "c";
  misplaced["parent_int_values"] = {{"values", {1}}};
  config["parameters"][3]["child_parameter_specs"] = {child, stranger, misplaced};
  config["parameters"][0]["child_parameter_specs"] = {child};
  EXPECT_THAT(Broken(config),
              ElementsAre("parameters[0].child_parameter_specs[0]",
                          "parameters[3].child_parameter_specs[0].parameter",
                          "parameters[3].child_parameter_specs[0].parent_categorical_values",
                          "parameters[3].child_parameter_specs[1].parent_categorical_values.values",
                          "parameters[3].child_parameter_specs[2].parent_int_values",
                          "parameters[3].child_parameter_specs[2].parent_categorical_values."
                          "values"));
}

struct Wrong {
  const char* what;
  const char* parameter;  // merged into a parameter of that type
  const char* field;      // after "parameters[0]"
};

TEST(StudyConfig, TellsWhatIsWrongWithAParameter) {
  const Wrong table[] = {
      {"no name", R"({"parameter": ""})", ".parameter"},
      {"no type", R"({"type": "PARAMETER_TYPE_UNSPECIFIED"})", ".type"},
      {"no values", R"({"double_value_spec": null})", ".double_value_spec"},
      {"values of another type", R"({"discrete_value_spec": {"values": [1]}})",
       ".discrete_value_spec"},
      {"reversed", R"({"double_value_spec": {"min_value": 2, "max_value": 1}})",
       ".double_value_spec"},
      {"a logarithm of nothing",
       R"({"scale_type": "UNIT_LOG_SCALE", "double_value_spec": {"min_value": 0, "max_value": 1}})",
       ".double_value_spec"},
      {"integers reversed",
       R"({"type": "INTEGER", "double_value_spec": null,
           "integer_value_spec": {"min_value": 9007199254740993,
                                  "max_value": 9007199254740992}})",
       ".integer_value_spec"},
      {"no set", R"({"type": "DISCRETE", "double_value_spec": null,
                     "discrete_value_spec": {"values": []}})",
       ".discrete_value_spec.values"},
      {"not increasing", R"({"type": "DISCRETE", "double_value_spec": null,
                             "discrete_value_spec": {"values": [1, 1]}})",
       ".discrete_value_spec.values"},
      {"a category twice", R"({"type": "CATEGORICAL", "double_value_spec": null,
                               "categorical_value_spec": {"values": ["a", "a"]}})",
       ".categorical_value_spec.values"},
      {"a scale of categories",
       R"({"type": "CATEGORICAL", "double_value_spec": null, "scale_type": "UNIT_LOG_SCALE",
           "categorical_value_spec": {"values": ["a", "b"]}})",
       ".scale_type"},
  };
  for (const Wrong& wrong : table) {
    Json config = AConfig();
    config["parameters"] = {Parsed(R"({"parameter": "p", "type": "DOUBLE",
                                       "double_value_spec": {"min_value": 1, "max_value": 2}})")};
    config["parameters"][0].merge_patch(Parsed(wrong.parameter));
    EXPECT_THAT(Broken(config), ElementsAre("parameters[0]" + std::string(wrong.field)))
        << wrong.what;
  }
}

TEST(StudyConfig, TellsAllThatIsWrongAtOnce) {
  EXPECT_THAT(Broken(Json::object()), ElementsAre("metrics", "parameters"));
  Json config = AConfig();
  config["metrics"][0]["goal"] = "";
  config["parameters"][1]["parameter"] = "rate";
  config["parameters"][2]["discrete_value_spec"]["values"] = {2, 1};
  EXPECT_THAT(Broken(config), ElementsAre("metrics[0].goal", "parameters[1].parameter",
                                          "parameters[2].discrete_value_spec.values"));
  EXPECT_THAT(Broken(AConfig()), IsEmpty());
}

}  // namespace
}  // namespace caip::tuning
