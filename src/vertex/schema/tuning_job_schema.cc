// The messages of a HyperparameterTuningJob. The order of the fields is that in which they are
// written.

#include "vertex/schema/tuning_job_schema.h"

#include "vertex/schema/custom_job_schema.h"
#include "vertex/schema/shared_messages.h"

namespace caip::vertex {
namespace {

using namespace google::fields;
using enum google::FieldKind;
using google::EnumSchema;
using google::FieldSchema;
using google::MessageSchema;

constexpr std::string_view kStudyGoalNames[] = {"GOAL_TYPE_UNSPECIFIED", "MAXIMIZE", "MINIMIZE"};
constexpr EnumSchema kStudyGoal{"google.cloud.aiplatform.v1.StudySpec.MetricSpec.GoalType",
                                kStudyGoalNames};

constexpr std::string_view kStudyScaleNames[] = {"SCALE_TYPE_UNSPECIFIED", "UNIT_LINEAR_SCALE",
                                                 "UNIT_LOG_SCALE", "UNIT_REVERSE_LOG_SCALE"};
constexpr EnumSchema kStudyScale{"google.cloud.aiplatform.v1.StudySpec.ParameterSpec.ScaleType",
                                 kStudyScaleNames};

// The position of a name is its number in the protocol buffer: 1 has none.
constexpr std::string_view kStudyAlgorithmNames[] = {"ALGORITHM_UNSPECIFIED", "", "GRID_SEARCH",
                                                     "RANDOM_SEARCH"};
constexpr EnumSchema kStudyAlgorithm{"google.cloud.aiplatform.v1.StudySpec.Algorithm",
                                     kStudyAlgorithmNames};

constexpr std::string_view kObservationNoiseNames[] = {"OBSERVATION_NOISE_UNSPECIFIED", "LOW",
                                                       "HIGH"};
constexpr EnumSchema kObservationNoise{"google.cloud.aiplatform.v1.StudySpec.ObservationNoise",
                                       kObservationNoiseNames};

constexpr std::string_view kSelectionNames[] = {"MEASUREMENT_SELECTION_TYPE_UNSPECIFIED",
                                                "LAST_MEASUREMENT", "BEST_MEASUREMENT"};
constexpr EnumSchema kSelection{"google.cloud.aiplatform.v1.StudySpec.MeasurementSelectionType",
                                kSelectionNames};

constexpr std::string_view kTrialStateNames[] = {"STATE_UNSPECIFIED", "REQUESTED", "ACTIVE",
                                                 "STOPPING",          "SUCCEEDED", "INFEASIBLE"};
constexpr EnumSchema kTrialState{"google.cloud.aiplatform.v1.Trial.State", kTrialStateNames};

constexpr FieldSchema kSafetyConfigFields[] = {
    Field("safetyThreshold", "safety_threshold", kDouble),
    Field("desiredMinSafeTrialsFraction", "desired_min_safe_trials_fraction", kDouble),
};
constexpr MessageSchema kSafetyConfig{
    "google.cloud.aiplatform.v1.StudySpec.MetricSpec.SafetyMetricConfig", kSafetyConfigFields};

constexpr FieldSchema kStudyMetricFields[] = {
    Field("metricId", "metric_id", kString),
    Of("goal", "goal", kStudyGoal),
    Of("safetyConfig", "safety_config", kSafetyConfig),
};
constexpr MessageSchema kStudyMetric{"google.cloud.aiplatform.v1.StudySpec.MetricSpec",
                                     kStudyMetricFields};

constexpr FieldSchema kDoubleValueFields[] = {
    Field("minValue", "min_value", kDouble),
    Field("maxValue", "max_value", kDouble),
    Field("defaultValue", "default_value", kDouble),
};
constexpr MessageSchema kDoubleValue{
    "google.cloud.aiplatform.v1.StudySpec.ParameterSpec.DoubleValueSpec", kDoubleValueFields};

constexpr FieldSchema kIntegerValueFields[] = {
    Field("minValue", "min_value", kInt64),
    Field("maxValue", "max_value", kInt64),
    Field("defaultValue", "default_value", kInt64),
};
constexpr MessageSchema kIntegerValue{
    "google.cloud.aiplatform.v1.StudySpec.ParameterSpec.IntegerValueSpec", kIntegerValueFields};

constexpr FieldSchema kCategoricalValueFields[] = {
    Repeated("values", "values", kString),
    Field("defaultValue", "default_value", kString),
};
constexpr MessageSchema kCategoricalValue{
    "google.cloud.aiplatform.v1.StudySpec.ParameterSpec.CategoricalValueSpec",
    kCategoricalValueFields};

constexpr FieldSchema kDiscreteValueFields[] = {
    Repeated("values", "values", kDouble),
    Field("defaultValue", "default_value", kDouble),
};
constexpr MessageSchema kDiscreteValue{
    "google.cloud.aiplatform.v1.StudySpec.ParameterSpec.DiscreteValueSpec", kDiscreteValueFields};

constexpr FieldSchema kParentNumbersFields[] = {Repeated("values", "values", kDouble)};
constexpr MessageSchema kParentNumbers{
    "google.cloud.aiplatform.v1.StudySpec.ParameterSpec.ConditionalParameterSpec."
    "DiscreteValueCondition",
    kParentNumbersFields};
constexpr FieldSchema kParentIntegersFields[] = {Repeated("values", "values", kInt64)};
constexpr MessageSchema kParentIntegers{
    "google.cloud.aiplatform.v1.StudySpec.ParameterSpec.ConditionalParameterSpec.IntValueCondition",
    kParentIntegersFields};
constexpr FieldSchema kParentCategoriesFields[] = {Repeated("values", "values", kString)};
constexpr MessageSchema kParentCategories{
    "google.cloud.aiplatform.v1.StudySpec.ParameterSpec.ConditionalParameterSpec."
    "CategoricalValueCondition",
    kParentCategoriesFields};

extern const MessageSchema kStudyParameter;  // a condition has a whole parameter below it

constexpr FieldSchema kConditionFields[] = {
    Of("parentDiscreteValues", "parent_discrete_values", kParentNumbers),
    Of("parentIntValues", "parent_int_values", kParentIntegers),
    Of("parentCategoricalValues", "parent_categorical_values", kParentCategories),
    Of("parameterSpec", "parameter_spec", kStudyParameter),
};
constexpr MessageSchema kCondition{
    "google.cloud.aiplatform.v1.StudySpec.ParameterSpec.ConditionalParameterSpec",
    kConditionFields};

constexpr FieldSchema kStudyParameterFields[] = {
    Field("parameterId", "parameter_id", kString),
    Of("doubleValueSpec", "double_value_spec", kDoubleValue),
    Of("integerValueSpec", "integer_value_spec", kIntegerValue),
    Of("categoricalValueSpec", "categorical_value_spec", kCategoricalValue),
    Of("discreteValueSpec", "discrete_value_spec", kDiscreteValue),
    Of("scaleType", "scale_type", kStudyScale),
    List(Of("conditionalParameterSpecs", "conditional_parameter_specs", kCondition)),
};
constexpr MessageSchema kStudyParameter{"google.cloud.aiplatform.v1.StudySpec.ParameterSpec",
                                        kStudyParameterFields};

constexpr FieldSchema kMedianStoppingFields[] = {
    Field("useElapsedDuration", "use_elapsed_duration", kBool),
};
constexpr MessageSchema kMedianStopping{
    "google.cloud.aiplatform.v1.StudySpec.MedianAutomatedStoppingSpec", kMedianStoppingFields};

// Rules that caip does not serve are named, whatever they hold.
constexpr FieldSchema kStudySpecFields[] = {
    List(Of("metrics", "metrics", kStudyMetric)),
    List(Of("parameters", "parameters", kStudyParameter)),
    Of("algorithm", "algorithm", kStudyAlgorithm),
    Field("decayCurveStoppingSpec", "decay_curve_stopping_spec", kOpaque),
    Of("medianAutomatedStoppingSpec", "median_automated_stopping_spec", kMedianStopping),
    Of("observationNoise", "observation_noise", kObservationNoise),
    Of("measurementSelectionType", "measurement_selection_type", kSelection),
    Field("convexAutomatedStoppingSpec", "convex_automated_stopping_spec", kOpaque),
    Field("studyStoppingConfig", "study_stopping_config", kOpaque),
};
constexpr MessageSchema kStudySpec{"google.cloud.aiplatform.v1.StudySpec", kStudySpecFields};

constexpr FieldSchema kMeasurementMetricFields[] = {
    Output(Field("metricId", "metric_id", kString)),
    Output(Field("value", "value", kDouble)),
};
constexpr MessageSchema kMeasurementMetric{"google.cloud.aiplatform.v1.Measurement.Metric",
                                           kMeasurementMetricFields};

constexpr FieldSchema kMeasurementFields[] = {
    Output(Field("elapsedDuration", "elapsed_duration", kDuration)),
    Output(Field("stepCount", "step_count", kInt64)),
    Output(List(Of("metrics", "metrics", kMeasurementMetric))),
};
constexpr MessageSchema kMeasurement{"google.cloud.aiplatform.v1.Measurement", kMeasurementFields};

// The value is a google.protobuf.Value: a number or a text.
constexpr FieldSchema kTrialParameterFields[] = {
    Output(Field("parameterId", "parameter_id", kString)),
    Output(Field("value", "value", kOpaque)),
};
constexpr MessageSchema kTrialParameter{"google.cloud.aiplatform.v1.Trial.Parameter",
                                        kTrialParameterFields};

constexpr FieldSchema kTrialFields[] = {
    Output(Field("name", "name", kString)),
    Output(Field("id", "id", kString)),
    Output(Of("state", "state", kTrialState)),
    Output(List(Of("parameters", "parameters", kTrialParameter))),
    Output(Of("finalMeasurement", "final_measurement", kMeasurement)),
    Output(List(Of("measurements", "measurements", kMeasurement))),
    Output(Field("startTime", "start_time", kTimestamp)),
    Output(Field("endTime", "end_time", kTimestamp)),
    Output(Field("clientId", "client_id", kString)),
    Output(Field("infeasibleReason", "infeasible_reason", kString)),
    Output(Field("customJob", "custom_job", kString)),
    Output(Field("webAccessUris", "web_access_uris", kStringMap)),
};
constexpr MessageSchema kTrial{"google.cloud.aiplatform.v1.Trial", kTrialFields};

}  // namespace

// Not constexpr: the messages of a custom job are in another file.
const google::MessageSchema& TuningJobSchema() {
  static const FieldSchema kFields[] = {
      Output(Field("name", "name", kString)),
      Field("displayName", "display_name", kString),
      Of("studySpec", "study_spec", kStudySpec),
      Field("maxTrialCount", "max_trial_count", kInt32),
      Field("parallelTrialCount", "parallel_trial_count", kInt32),
      Field("maxFailedTrialCount", "max_failed_trial_count", kInt32),
      Of("trialJobSpec", "trial_job_spec", CustomJobSpecSchema()),
      Output(List(Of("trials", "trials", kTrial))),
      Output(Of("state", "state", JobStateSchema())),
      Output(Field("createTime", "create_time", kTimestamp)),
      Output(Field("startTime", "start_time", kTimestamp)),
      Output(Field("endTime", "end_time", kTimestamp)),
      Output(Field("updateTime", "update_time", kTimestamp)),
      Output(Of("error", "error", kStatus)),
      Field("labels", "labels", kStringMap),
      Of("encryptionSpec", "encryption_spec", kEncryptionSpec),
      Output(Field("satisfiesPzs", "satisfies_pzs", kBool)),
      Output(Field("satisfiesPzi", "satisfies_pzi", kBool)),
  };
  static const MessageSchema kMessage{"google.cloud.aiplatform.v1.HyperparameterTuningJob",
                                      kFields};
  return kMessage;
}

const google::MessageSchema& TuningTaskInputsSchema() {
  static const FieldSchema kFields[] = {
      Of("studySpec", "study_spec", kStudySpec),
      Of("trialJobSpec", "trial_job_spec", CustomJobSpecSchema()),
      Field("maxTrialCount", "max_trial_count", kInt32),
      Field("parallelTrialCount", "parallel_trial_count", kInt32),
      Field("maxFailedTrialCount", "max_failed_trial_count", kInt32),
  };
  static const MessageSchema kMessage{
      "google.cloud.aiplatform.v1.schema.trainingjob.definition."
      "HyperparameterTuningJobSpec",
      kFields};
  return kMessage;
}

}  // namespace caip::vertex
