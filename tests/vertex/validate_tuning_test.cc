// docs/service/vertex.md, section 8: each rule of a tuning job once, and all violations at once.

#include "vertex/validate/validate_tuning.h"

#include "tests/vertex/a_study_job.h"

namespace caip::vertex {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// A value that breaks one rule of a tuning job.
struct StudyRule {
  const char* at;          // JSON pointer; below /studySpec if it does not begin with '/'
  const char* value;       // JSON; "" removes the member
  const char* field = "";  // below study_spec if it begins with a dot
  const char* told = "";
};

Json WithStudyValue(Json job, const StudyRule& rule) {
  const std::string at = rule.at;
  const Json::json_pointer pointer(at.starts_with('/') ? at : "/studySpec/" + at);
  if (*rule.value != '\0') {
    job[pointer] = FromText(rule.value);
  } else {
    job[pointer.parent_pointer()].erase(pointer.back());
  }
  return job;
}

std::string StudyField(const char* field) {
  const std::string text = field;
  return text.starts_with('.') ? "study_spec" + text : text;
}

constexpr char kRequired[] = "Required field is not set.";

constexpr StudyRule kStudyRules[] = {
    {"/displayName", "", "display_name", kRequired},
    {"/trialJobSpec", "", "trial_job_spec", kRequired},
    {"/trialJobSpec/workerPoolSpecs/0/machineSpec/machineType", "\"fast\"",
     "trial_job_spec.worker_pool_specs[0].machine_spec.machine_type", "'fast' is not a machine"},
    {"/trialJobSpec/baseOutputDirectory", R"({"outputUriPrefix": "x"})",
     "trial_job_spec.base_output_directory.output_uri_prefix", "'x' is not a location"},
    {"/labels", R"({"A": "b"})", "labels", "The key 'A' is not allowed."},
    {"/studySpec", "", "study_spec", kRequired},
    {"/maxTrialCount", "", "max_trial_count", kRequired},
    {"/maxTrialCount", "0", "max_trial_count", kRequired},
    {"/maxTrialCount", "-1", "max_trial_count", "The number of trials -1 is negative."},
    {"/maxTrialCount", "100001", "max_trial_count", "asks for 100001 trials. At most 100000"},
    {"/parallelTrialCount", "", "parallel_trial_count", kRequired},
    {"/parallelTrialCount", "10001", "parallel_trial_count", "At most 10000 are allowed."},
    {"/maxFailedTrialCount", "-2", "max_failed_trial_count", "-2 is negative"},
    {"/maxFailedTrialCount", "4", "max_failed_trial_count",
     "4 is above max_trial_count, which is 3."},
    {"metrics", "", ".metrics", kRequired},
    {"metrics/0/metricId", "", ".metrics[0].metric_id", kRequired},
    {"metrics/0/metricId", "\"a b\"", ".metrics[0].metric_id", "'a b' has whitespace"},
    {"metrics/0/goal", "", ".metrics[0].goal", kRequired},
    {"parameters", "[]", ".parameters", kRequired},
    {"parameters/0/parameterId", "", ".parameters[0].parameter_id", kRequired},
    {"parameters/0/parameterId", "\"a\\tb\"", ".parameters[0].parameter_id", "has whitespace"},
    {"parameters/0/parameterId", "\"batch\"", ".parameters[2].parameter_id",
     "The id 'batch' is used twice."},
    {"parameters/0/parameterId", "\"momentum\"",
     ".parameters[3].conditional_parameter_specs[0].parameter_spec.parameter_id",
     "The id 'momentum' is used twice."},
    {"parameters/0/doubleValueSpec", "", ".parameters[0]", "but none is. Set one of them."},
    {"parameters/0/discreteValueSpec", R"({"values": [1]})", ".parameters[0]",
     "but several are. Keep one of them."},
    {"parameters/0/doubleValueSpec/minValue", "2", ".parameters[0].double_value_spec.max_value",
     "The maximum 1 is less than the minimum 2."},
    {"parameters/0/doubleValueSpec/maxValue", "\"Infinity\"",
     ".parameters[0].double_value_spec.max_value", "must be a finite number"},
    {"parameters/0/doubleValueSpec/minValue", "0", ".parameters[0].scale_type",
     "The scale UNIT_LOG_SCALE needs values above 0, but the least is 0."},
    {"parameters/0/doubleValueSpec/defaultValue", "0.5",
     ".parameters[0].double_value_spec.default_value", "Default values are not supported"},
    {"parameters/1/integerValueSpec/maxValue", "\"7\"",
     ".parameters[1].integer_value_spec.max_value", "The maximum 7 is less than the minimum 8."},
    {"parameters/2/discreteValueSpec/values", "[]", ".parameters[2].discrete_value_spec.values",
     kRequired},
    {"parameters/2/discreteValueSpec/values", "[16, 32, 32]",
     ".parameters[2].discrete_value_spec.values", "value 2 is not that much above"},
    {"parameters/2/discreteValueSpec/values", "[0, 1e-11]",
     ".parameters[2].discrete_value_spec.values", "increase by at least 1e-10"},
    {"parameters/2/discreteValueSpec/values", "[0, \"NaN\"]",
     ".parameters[2].discrete_value_spec.values", "Value 1 is not a finite number"},
    {"parameters/3/categoricalValueSpec/values", "[\"sgd\", \"\\u0000\"]",
     ".parameters[3].categorical_value_spec.values[1]", "NUL"},
    {"parameters/3/scaleType", "1", ".parameters[3].scale_type", "has no scale"},
    {"parameters/3/conditionalParameterSpecs/0/parentCategoricalValues", R"({"values": ["rms"]})",
     ".parameters[3].conditional_parameter_specs[0].parent_categorical_values.values",
     "'rms' is not a value of the parameter 'optimizer'."},
    {"parameters/3/conditionalParameterSpecs/0/parentCategoricalValues", "",
     ".parameters[3].conditional_parameter_specs[0].parent_categorical_values.values", kRequired},
    {"parameters/3/conditionalParameterSpecs/0/parentIntValues", R"({"values": [1]})",
     ".parameters[3].conditional_parameter_specs[0].parent_int_values",
     "Use parent_categorical_values."},
    {"parameters/3/conditionalParameterSpecs/0/parameterSpec", "",
     ".parameters[3].conditional_parameter_specs[0].parameter_spec", kRequired},
    {"parameters/0/conditionalParameterSpecs",
     R"([{"parameterSpec": {"parameterId": "x", "discreteValueSpec": {"values": [1]}}}])",
     ".parameters[0].conditional_parameter_specs[0]", "nothing can depend on it"},
    {"algorithm", "2", ".parameters[0].double_value_spec", "GRID_SEARCH has no grid for the"},
};

TEST(ValidateTuning, FindsEachBrokenRule) {
  ASSERT_THAT(Told(ValidateTuning(ParsedStudy(AStudyJob()), "us-central1")), IsEmpty());
  for (const StudyRule& rule : kStudyRules) {
    SCOPED_TRACE(std::string(rule.at) + " = " + rule.value);
    const TuningJob job = ParsedStudy(WithStudyValue(AStudyJob(), rule));
    EXPECT_THAT(
        Told(ValidateTuning(job, "us-central1")),
        ElementsAre(AllOf(StartsWith(StudyField(rule.field) + ": "), HasSubstr(rule.told))));
  }
}

TEST(ValidateTuning, HasALimitForCategoriesAndForTheParentsValues) {
  Json job = AStudyJob();
  Json& parameter = job["studySpec"]["parameters"][3];
  Json& values = parameter["categoricalValueSpec"]["values"];
  Json& condition = parameter["conditionalParameterSpecs"][0]["parentCategoricalValues"]["values"];
  while (values.size() < 1000) values.push_back("c" + std::to_string(values.size()));
  condition = values;
  EXPECT_THAT(Told(ValidateTuning(ParsedStudy(job), "us-central1")), IsEmpty());
  condition.push_back("sgd");
  EXPECT_THAT(Told(ValidateTuning(ParsedStudy(job), "us-central1")),
              ElementsAre(HasSubstr("parent_categorical_values.values: The parameter has 1001 "
                                    "values. At most 1000 are allowed.")));
  condition.erase(1000);
  values.push_back("one more");
  EXPECT_THAT(Told(ValidateTuning(ParsedStudy(job), "us-central1")),
              ElementsAre(HasSubstr("categorical_value_spec.values: The parameter has 1001")));
}

TEST(ValidateTuning, AcceptsWhatTheServiceAccepts) {
  const StudyRule rows[] = {
      {"parameters/0/doubleValueSpec", R"({"maxValue": 1, "minValue": 1})"},
      {"parameters/1/integerValueSpec", R"({"maxValue": 5})"},
      {"parameters/1/integerValueSpec", R"({"minValue": -5})"},
      {"parameters/1/conditionalParameterSpecs",
       R"([{"parentIntValues": {"values": [8, "64"]},
            "parameterSpec": {"parameterId": "x", "discreteValueSpec": {"values": [1]}}}])"},
      {"parameters/2/conditionalParameterSpecs",
       R"([{"parentDiscreteValues": {"values": [16.0]},
            "parameterSpec": {"parameterId": "x", "integerValueSpec": {"maxValue": 3}}}])"},
      {"parameters/2/discreteValueSpec/values", "[0, 1e-10]"},
      {"parameters/3/categoricalValueSpec/values", R"(["sgd", "sgd", "a b"])"},
      {"observationNoise", "\"LOW\""},
      {"medianAutomatedStoppingSpec", "{}"},
      {"/maxFailedTrialCount", "3"},
      {"/parallelTrialCount", "7"},
  };
  for (const StudyRule& rule : rows) {
    const TuningJob job = ParsedStudy(WithStudyValue(AStudyJob(), rule));
    EXPECT_TRUE(CheckTuningJob(job, "us-central1").ok())
        << rule.at << ": " << CheckTuningJob(job, "us-central1").error().message;
  }
}

TEST(ValidateTuning, NamesBoundsThatAreBothMissing) {
  const TuningJob job =
      ParsedStudy(WithStudyValue(AStudyJob(), {"parameters/1/integerValueSpec", "{}"}));
  EXPECT_THAT(
      Told(ValidateTuning(job, "us-central1")),
      ElementsAre(
          "study_spec.parameters[1].integer_value_spec.min_value: " + std::string(kRequired),
          "study_spec.parameters[1].integer_value_spec.max_value: " + std::string(kRequired)));
}

TEST(ValidateTuning, ReportsAllViolationsInOrder) {
  Json body = AStudyJob();
  body.erase("displayName");
  body["trialJobSpec"]["workerPoolSpecs"][0].erase("machineSpec");
  body["studySpec"]["metrics"][0].erase("goal");
  body["maxTrialCount"] = 0;
  const Status refused = CheckTuningJob(ParsedStudy(body), "us-central1");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kInvalidArgument);
  EXPECT_EQ(refused.error().message,
            "List of found errors:\t"
            "1.Field: trial_job_spec.worker_pool_specs[0].machine_spec.machine_type; Message: "
            "Required field is not set.\t"
            "2.Field: display_name; Message: Required field is not set.\t"
            "3.Field: study_spec.metrics[0].goal; Message: Required field is not set.\t"
            "4.Field: max_trial_count; Message: Required field is not set.\t");
}

TEST(ValidateTuning, RefusesTpus) {
  Json body = AStudyJob();
  body["trialJobSpec"]["workerPoolSpecs"][0]["machineSpec"] = {
      {"machineType", "cloud-tpu"}, {"acceleratorType", "TPU_V2"}, {"acceleratorCount", 8}};
  EXPECT_THAT(Told(ValidateTuning(ParsedStudy(body), "us-central1")),
              ElementsAre("trial_job_spec.worker_pool_specs[0].machine_spec.accelerator_type: "
                          "Trials cannot use TPUs, and the worker pool has TPU_V2. Use GPUs, or no "
                          "accelerators."));
}

TEST(ValidateTuning, NamesWhatIsNotServed) {
  const StudyRule rows[] = {
      {"metrics", R"([{"metricId": "a", "goal": 1}, {"metricId": "b", "goal": 1}])", ".metrics",
       "caip optimizes one metric, and the study has 2."},
      {"metrics/0/safetyConfig", "{}", ".metrics[0].safety_config", "'safetyConfig'"},
      {"decayCurveStoppingSpec", "{}", ".decay_curve_stopping_spec", "'decay_curve_stopping_spec'"},
      {"convexAutomatedStoppingSpec", R"({"maxStepCount": "3"})", ".convex_automated_stopping_spec",
       "'convex_automated_stopping_spec'"},
      {"studyStoppingConfig", "{}", ".study_stopping_config", "'study_stopping_config'"},
      {"medianAutomatedStoppingSpec", R"({"useElapsedDuration": true})",
       ".median_automated_stopping_spec.use_elapsed_duration", "compares trials by their steps"},
      {"parameters/3/conditionalParameterSpecs/1",
       R"({"parentCategoricalValues": {"values": ["adam"]},
           "parameterSpec": {"parameterId": "momentum", "discreteValueSpec": {"values": [1]}}})",
       ".parameters[3].conditional_parameter_specs[1].parameter_spec.parameter_id",
       "several conditional parameters with the id 'momentum'"},
      {"/trialJobSpec/workerPoolSpecs/0/lustreMounts", "[{}]",
       "trial_job_spec.worker_pool_specs[0].lustre_mounts", "'lustreMounts'"},
  };
  for (const StudyRule& rule : rows) {
    const Status refused =
        CheckTuningJob(ParsedStudy(WithStudyValue(AStudyJob(), rule)), "us-central1");
    ASSERT_FALSE(refused.ok()) << rule.at;
    EXPECT_EQ(refused.error().code, Code::kUnimplemented) << rule.at;
    EXPECT_THAT(
        Told(refused.error().violations),
        ElementsAre(AllOf(StartsWith(StudyField(rule.field) + ": "), HasSubstr(rule.told))));
  }
}

}  // namespace
}  // namespace caip::vertex
