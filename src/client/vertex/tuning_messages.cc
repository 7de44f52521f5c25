// The messages of a HyperparameterTuningJob.
// The order of the fields is gcloud's, in which it lists unknown names.

#include "base/text.h"
#include "client/vertex/gcloud_messages.h"

namespace caip::client::vertex {
namespace {

using namespace google::fields;
using enum google::FieldKind;
using google::EnumSchema;
using google::FieldSchema;
using google::MessageSchema;

// A condition has a whole parameter below it.
extern const MessageSchema kParameterSpec;

constexpr FieldSchema kEncryptionSpecFields[] = {
    Field("kmsKeyName", "kms_key_name", kString),
};
constexpr MessageSchema kEncryptionSpec{"EncryptionSpec", kEncryptionSpecFields};

constexpr FieldSchema kRpcStatusFields[] = {
    Field("code", "code", kInt32),
    Repeated("details", "details", kOpaque),
    Field("message", "message", kString),
};
constexpr MessageSchema kRpcStatus{"RpcStatus", kRpcStatusFields};

constexpr FieldSchema kConvexStoppingSpecFields[] = {
    Field("learningRateParameterName", "learning_rate_parameter_name", kString),
    Field("maxStepCount", "max_step_count", kInt64),
    Field("minMeasurementCount", "min_measurement_count", kInt64),
    Field("minStepCount", "min_step_count", kInt64),
    Field("updateAllStoppedTrials", "update_all_stopped_trials", kBool),
    Field("useElapsedDuration", "use_elapsed_duration", kBool),
};
constexpr MessageSchema kConvexStoppingSpec{"StudySpecConvexAutomatedStoppingSpec",
                                            kConvexStoppingSpecFields};

constexpr FieldSchema kDecayCurveStoppingSpecFields[] = {
    Field("useElapsedDuration", "use_elapsed_duration", kBool),
};
constexpr MessageSchema kDecayCurveStoppingSpec{"StudySpecDecayCurveAutomatedStoppingSpec",
                                                kDecayCurveStoppingSpecFields};

constexpr FieldSchema kMedianStoppingSpecFields[] = {
    Field("useElapsedDuration", "use_elapsed_duration", kBool),
};
constexpr MessageSchema kMedianStoppingSpec{"StudySpecMedianAutomatedStoppingSpec",
                                            kMedianStoppingSpecFields};

constexpr FieldSchema kMetricSpecSafetyMetricConfigFields[] = {
    Field("desiredMinSafeTrialsFraction", "desired_min_safe_trials_fraction", kDouble),
    Field("safetyThreshold", "safety_threshold", kDouble),
};
constexpr MessageSchema kMetricSpecSafetyMetricConfig{"StudySpecMetricSpecSafetyMetricConfig",
                                                      kMetricSpecSafetyMetricConfigFields};

constexpr std::string_view kGoalNames[] = {"GOAL_TYPE_UNSPECIFIED", "MAXIMIZE", "MINIMIZE"};
constexpr EnumSchema kGoal{"Goal", kGoalNames};

constexpr FieldSchema kMetricSpecFields[] = {
    Of("goal", "goal", kGoal),
    Field("metricId", "metric_id", kString),
    Of("safetyConfig", "safety_config", kMetricSpecSafetyMetricConfig),
};
constexpr MessageSchema kMetricSpec{"StudySpecMetricSpec", kMetricSpecFields};

constexpr FieldSchema kCategoricalValueSpecFields[] = {
    Field("defaultValue", "default_value", kString),
    Repeated("values", "values", kString),
};
constexpr MessageSchema kCategoricalValueSpec{"StudySpecParameterSpecCategoricalValueSpec",
                                              kCategoricalValueSpecFields};

constexpr FieldSchema kConditionalCategoricalValueConditionFields[] = {
    Repeated("values", "values", kString),
};
constexpr MessageSchema kConditionalCategoricalValueCondition{
    "StudySpecParameterSpecConditionalParameterSpecCategoricalValueCondition",
    kConditionalCategoricalValueConditionFields};

constexpr FieldSchema kConditionalDiscreteValueConditionFields[] = {
    Repeated("values", "values", kDouble),
};
constexpr MessageSchema kConditionalDiscreteValueCondition{
    "StudySpecParameterSpecConditionalParameterSpecDiscreteValueCondition",
    kConditionalDiscreteValueConditionFields};

constexpr FieldSchema kConditionalIntValueConditionFields[] = {
    Repeated("values", "values", kInt64),
};
constexpr MessageSchema kConditionalIntValueCondition{
    "StudySpecParameterSpecConditionalParameterSpecIntValueCondition",
    kConditionalIntValueConditionFields};

constexpr FieldSchema kConditionalFields[] = {
    Of("parameterSpec", "parameter_spec", kParameterSpec),
    Of("parentCategoricalValues", "parent_categorical_values",
       kConditionalCategoricalValueCondition),
    Of("parentDiscreteValues", "parent_discrete_values", kConditionalDiscreteValueCondition),
    Of("parentIntValues", "parent_int_values", kConditionalIntValueCondition),
};
constexpr MessageSchema kConditional{"StudySpecParameterSpecConditionalParameterSpec",
                                     kConditionalFields};

constexpr FieldSchema kDiscreteValueSpecFields[] = {
    Field("defaultValue", "default_value", kDouble),
    Repeated("values", "values", kDouble),
};
constexpr MessageSchema kDiscreteValueSpec{"StudySpecParameterSpecDiscreteValueSpec",
                                           kDiscreteValueSpecFields};

constexpr FieldSchema kDoubleValueSpecFields[] = {
    Field("defaultValue", "default_value", kDouble),
    Field("maxValue", "max_value", kDouble),
    Field("minValue", "min_value", kDouble),
};
constexpr MessageSchema kDoubleValueSpec{"StudySpecParameterSpecDoubleValueSpec",
                                         kDoubleValueSpecFields};

constexpr FieldSchema kIntegerValueSpecFields[] = {
    Field("defaultValue", "default_value", kInt64),
    Field("maxValue", "max_value", kInt64),
    Field("minValue", "min_value", kInt64),
};
constexpr MessageSchema kIntegerValueSpec{"StudySpecParameterSpecIntegerValueSpec",
                                          kIntegerValueSpecFields};

constexpr std::string_view kScaleTypeNames[] = {"SCALE_TYPE_UNSPECIFIED", "UNIT_LINEAR_SCALE",
                                                "UNIT_LOG_SCALE", "UNIT_REVERSE_LOG_SCALE"};
constexpr EnumSchema kScaleType{"ScaleType", kScaleTypeNames};

constexpr FieldSchema kParameterSpecFields[] = {
    Of("categoricalValueSpec", "categorical_value_spec", kCategoricalValueSpec),
    List(Of("conditionalParameterSpecs", "conditional_parameter_specs", kConditional)),
    Of("discreteValueSpec", "discrete_value_spec", kDiscreteValueSpec),
    Of("doubleValueSpec", "double_value_spec", kDoubleValueSpec),
    Of("integerValueSpec", "integer_value_spec", kIntegerValueSpec),
    Field("parameterId", "parameter_id", kString),
    Of("scaleType", "scale_type", kScaleType),
};
constexpr MessageSchema kParameterSpec{"StudySpecParameterSpec", kParameterSpecFields};

constexpr FieldSchema kStudyTimeConstraintFields[] = {
    Field("endTime", "end_time", kString),
    Field("maxDuration", "max_duration", kString),
};
constexpr MessageSchema kStudyTimeConstraint{"StudyTimeConstraint", kStudyTimeConstraintFields};

constexpr FieldSchema kStudyStoppingConfigFields[] = {
    Field("maxDurationNoProgress", "max_duration_no_progress", kString),
    Field("maxNumTrials", "max_num_trials", kInt32),
    Field("maxNumTrialsNoProgress", "max_num_trials_no_progress", kInt32),
    Of("maximumRuntimeConstraint", "maximum_runtime_constraint", kStudyTimeConstraint),
    Field("minNumTrials", "min_num_trials", kInt32),
    Of("minimumRuntimeConstraint", "minimum_runtime_constraint", kStudyTimeConstraint),
    Field("shouldStopAsap", "should_stop_asap", kBool),
};
constexpr MessageSchema kStudyStoppingConfig{"StudySpecStudyStoppingConfig",
                                             kStudyStoppingConfigFields};

constexpr std::string_view kAlgorithmNames[] = {"ALGORITHM_UNSPECIFIED", "GRID_SEARCH",
                                                "RANDOM_SEARCH"};
constexpr EnumSchema kAlgorithm{"Algorithm", kAlgorithmNames};

constexpr std::string_view kMeasurementSelectionTypeNames[] = {
    "MEASUREMENT_SELECTION_TYPE_UNSPECIFIED", "LAST_MEASUREMENT", "BEST_MEASUREMENT"};
constexpr EnumSchema kMeasurementSelectionType{"MeasurementSelectionType",
                                               kMeasurementSelectionTypeNames};

constexpr std::string_view kObservationNoiseNames[] = {"OBSERVATION_NOISE_UNSPECIFIED", "LOW",
                                                       "HIGH"};
constexpr EnumSchema kObservationNoise{"ObservationNoise", kObservationNoiseNames};

constexpr FieldSchema kStudySpecFields[] = {
    Of("algorithm", "algorithm", kAlgorithm),
    Of("convexAutomatedStoppingSpec", "convex_automated_stopping_spec", kConvexStoppingSpec),
    Of("decayCurveStoppingSpec", "decay_curve_stopping_spec", kDecayCurveStoppingSpec),
    Of("measurementSelectionType", "measurement_selection_type", kMeasurementSelectionType),
    Of("medianAutomatedStoppingSpec", "median_automated_stopping_spec", kMedianStoppingSpec),
    List(Of("metrics", "metrics", kMetricSpec)),
    Of("observationNoise", "observation_noise", kObservationNoise),
    List(Of("parameters", "parameters", kParameterSpec)),
    Of("studyStoppingConfig", "study_stopping_config", kStudyStoppingConfig),
};
constexpr MessageSchema kStudySpec{"StudySpec", kStudySpecFields};

constexpr FieldSchema kMeasurementMetricFields[] = {
    Field("metricId", "metric_id", kString),
    Field("value", "value", kDouble),
};
constexpr MessageSchema kMeasurementMetric{"MeasurementMetric", kMeasurementMetricFields};

constexpr FieldSchema kMeasurementFields[] = {
    Field("elapsedDuration", "elapsed_duration", kString),
    List(Of("metrics", "metrics", kMeasurementMetric)),
    Field("stepCount", "step_count", kInt64),
};
constexpr MessageSchema kMeasurement{"Measurement", kMeasurementFields};

constexpr FieldSchema kTrialParameterFields[] = {
    Field("parameterId", "parameter_id", kString),
    Field("value", "value", kOpaque),
};
constexpr MessageSchema kTrialParameter{"TrialParameter", kTrialParameterFields};

constexpr std::string_view kTrialStateNames[] = {"STATE_UNSPECIFIED", "REQUESTED", "ACTIVE",
                                                 "STOPPING",          "SUCCEEDED", "INFEASIBLE"};
constexpr EnumSchema kTrialState{"TrialState", kTrialStateNames};

constexpr FieldSchema kTrialFields[] = {
    Field("clientId", "client_id", kString),
    Field("customJob", "custom_job", kString),
    Field("endTime", "end_time", kString),
    Of("finalMeasurement", "final_measurement", kMeasurement),
    Field("id", "id", kString),
    Field("infeasibleReason", "infeasible_reason", kString),
    List(Of("measurements", "measurements", kMeasurement)),
    Field("name", "name", kString),
    List(Of("parameters", "parameters", kTrialParameter)),
    Field("startTime", "start_time", kString),
    Of("state", "state", kTrialState),
    Field("webAccessUris", "web_access_uris", kStringMap),
};
constexpr MessageSchema kTrial{"Trial", kTrialFields};

constexpr std::string_view kJobStateNames[] = {
    "JOB_STATE_UNSPECIFIED", "JOB_STATE_QUEUED",    "JOB_STATE_PENDING",
    "JOB_STATE_RUNNING",     "JOB_STATE_SUCCEEDED", "JOB_STATE_FAILED",
    "JOB_STATE_CANCELLING",  "JOB_STATE_CANCELLED", "JOB_STATE_PAUSED",
    "JOB_STATE_EXPIRED",     "JOB_STATE_UPDATING",  "JOB_STATE_PARTIALLY_SUCCEEDED"};
constexpr EnumSchema kJobState{"JobState", kJobStateNames};

}  // namespace

const MessageSchema& TuningJobMessage() {
  static const FieldSchema fields[] = {
      Field("createTime", "create_time", kString),
      Field("displayName", "display_name", kString),
      Of("encryptionSpec", "encryption_spec", kEncryptionSpec),
      Field("endTime", "end_time", kString),
      Of("error", "error", kRpcStatus),
      Field("labels", "labels", kStringMap),
      Field("maxFailedTrialCount", "max_failed_trial_count", kInt32),
      Field("maxTrialCount", "max_trial_count", kInt32),
      Field("name", "name", kString),
      Field("parallelTrialCount", "parallel_trial_count", kInt32),
      Field("satisfiesPzi", "satisfies_pzi", kBool),
      Field("satisfiesPzs", "satisfies_pzs", kBool),
      Field("startTime", "start_time", kString),
      Of("state", "state", kJobState),
      Of("studySpec", "study_spec", kStudySpec),
      Of("trialJobSpec", "trial_job_spec", CustomJobSpecMessage()),
      List(Of("trials", "trials", kTrial)),
      Field("updateTime", "update_time", kString),
  };
  static const MessageSchema message{"HyperparameterTuningJob", fields};
  return message;
}

std::vector<std::string> AlgorithmChoices() {
  std::vector<std::string> choices;
  for (const std::string_view name : kAlgorithmNames) {
    choices.push_back(LowerCase(ReplaceAll(std::string(name), "_", "-")));
  }
  return choices;
}

std::string AlgorithmOfChoice(std::string_view choice) {
  const std::string wanted = UpperCase(ReplaceAll(std::string(choice), "-", "_"));
  for (const std::string_view name : kAlgorithmNames) {
    if (name == wanted) return wanted;
  }
  return "";
}

}  // namespace caip::client::vertex
