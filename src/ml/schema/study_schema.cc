// The messages of the optimizer API. The order of the fields is that in which they are written.

#include "ml/schema/study_schema.h"

#include "google/message_schema.h"

namespace caip::ml {
namespace {

using namespace google::fields;
using enum google::FieldKind;
using google::EnumSchema;
using google::FieldSchema;
using google::MessageSchema;

constexpr std::string_view kStudySchemaGoalNames[] = {"GOAL_TYPE_UNSPECIFIED", "MAXIMIZE",
                                                      "MINIMIZE"};
constexpr EnumSchema kStudySchemaGoal{"google.cloud.ml.v1.StudyConfig.MetricSpec.GoalType",
                                      kStudySchemaGoalNames};

constexpr std::string_view kTypeNames[] = {"PARAMETER_TYPE_UNSPECIFIED", "DOUBLE", "INTEGER",
                                           "CATEGORICAL", "DISCRETE"};
constexpr EnumSchema kType{"google.cloud.ml.v1.StudyConfig.ParameterSpec.ParameterType",
                           kTypeNames};

constexpr std::string_view kScaleNames[] = {"SCALE_TYPE_UNSPECIFIED", "UNIT_LINEAR_SCALE",
                                            "UNIT_LOG_SCALE", "UNIT_REVERSE_LOG_SCALE"};
constexpr EnumSchema kScale{"google.cloud.ml.v1.StudyConfig.ParameterSpec.ScaleType", kScaleNames};

constexpr std::string_view kStudySchemaAlgorithmNames[] = {
    "ALGORITHM_UNSPECIFIED", "GAUSSIAN_PROCESS_BANDIT", "GRID_SEARCH", "RANDOM_SEARCH"};
constexpr EnumSchema kStudySchemaAlgorithm{"google.cloud.ml.v1.StudyConfig.Algorithm",
                                           kStudySchemaAlgorithmNames};

constexpr std::string_view kStudyStateNames[] = {"STATE_UNSPECIFIED", "ACTIVE", "INACTIVE",
                                                 "COMPLETED"};
constexpr EnumSchema kStudyState{"google.cloud.ml.v1.Study.State", kStudyStateNames};

constexpr std::string_view kTrialStateNames[] = {"STATE_UNSPECIFIED", "REQUESTED", "ACTIVE",
                                                 "COMPLETED", "STOPPING"};
constexpr EnumSchema kTrialState{"google.cloud.ml.v1.Trial.State", kTrialStateNames};

constexpr FieldSchema kMetricSpecFields[] = {
    Of("goal", "goal", kStudySchemaGoal),
    Field("metric", "metric", kString),
};
constexpr MessageSchema kMetricSpec{"google.cloud.ml.v1.StudyConfig.MetricSpec", kMetricSpecFields};

constexpr FieldSchema kDoubleRangeFields[] = {
    Field("minValue", "min_value", kDouble),
    Field("maxValue", "max_value", kDouble),
};
constexpr MessageSchema kDoubleRange{"google.cloud.ml.v1.StudyConfig.ParameterSpec.DoubleValueSpec",
                                     kDoubleRangeFields};

constexpr FieldSchema kIntegerRangeFields[] = {
    Field("minValue", "min_value", kInt64),
    Field("maxValue", "max_value", kInt64),
};
constexpr MessageSchema kIntegerRange{
    "google.cloud.ml.v1.StudyConfig.ParameterSpec.IntegerValueSpec", kIntegerRangeFields};

constexpr FieldSchema kNumbersFields[] = {List(Field("values", "values", kDouble))};
constexpr MessageSchema kNumbers{"google.cloud.ml.v1.StudyConfig.ParameterSpec.DiscreteValueSpec",
                                 kNumbersFields};
constexpr FieldSchema kIntegersFields[] = {List(Field("values", "values", kInt64))};
constexpr MessageSchema kIntegers{
    "google.cloud.ml.v1.StudyConfig.ParameterSpec.MatchingParentIntValueSpec", kIntegersFields};
constexpr FieldSchema kTextsFields[] = {List(Field("values", "values", kString))};
constexpr MessageSchema kTexts{"google.cloud.ml.v1.StudyConfig.ParameterSpec.CategoricalValueSpec",
                               kTextsFields};

extern const MessageSchema kStudySchemaParameterSpec;  // it has children of its own kind

constexpr FieldSchema kStudySchemaParameterSpecFields[] = {
    Field("parameter", "parameter", kString),
    Of("type", "type", kType),
    Of("doubleValueSpec", "double_value_spec", kDoubleRange),
    Of("integerValueSpec", "integer_value_spec", kIntegerRange),
    Of("categoricalValueSpec", "categorical_value_spec", kTexts),
    Of("discreteValueSpec", "discrete_value_spec", kNumbers),
    Of("scaleType", "scale_type", kScale),
    List(Of("childParameterSpecs", "child_parameter_specs", kStudySchemaParameterSpec)),
    Of("parentDiscreteValues", "parent_discrete_values", kNumbers),
    Of("parentIntValues", "parent_int_values", kIntegers),
    Of("parentCategoricalValues", "parent_categorical_values", kTexts),
};
constexpr MessageSchema kStudySchemaParameterSpec{"google.cloud.ml.v1.StudyConfig.ParameterSpec",
                                                  kStudySchemaParameterSpecFields};

constexpr FieldSchema kStoppingRuleFields[] = {Field("useElapsedTime", "use_elapsed_time", kBool)};
constexpr MessageSchema kDecayCurve{
    "google.cloud.ml.v1.AutomatedStoppingConfig.DecayCurveAutomatedStoppingConfig",
    kStoppingRuleFields};
constexpr MessageSchema kMedian{
    "google.cloud.ml.v1.AutomatedStoppingConfig.MedianAutomatedStoppingConfig",
    kStoppingRuleFields};
constexpr FieldSchema kStoppingFields[] = {
    Of("decayCurveStoppingConfig", "decay_curve_stopping_config", kDecayCurve),
    Of("medianAutomatedStoppingConfig", "median_automated_stopping_config", kMedian),
};
constexpr MessageSchema kStopping{"google.cloud.ml.v1.AutomatedStoppingConfig", kStoppingFields};

constexpr FieldSchema kStudyConfigFields[] = {
    List(Of("metrics", "metrics", kMetricSpec)),
    List(Of("parameters", "parameters", kStudySchemaParameterSpec)),
    Of("algorithm", "algorithm", kStudySchemaAlgorithm),
    Of("automatedStoppingConfig", "automated_stopping_config", kStopping),
};
constexpr MessageSchema kStudyConfig{"google.cloud.ml.v1.StudyConfig", kStudyConfigFields};

constexpr FieldSchema kStudyFields[] = {
    Output(Field("name", "name", kString)),
    Of("studyConfig", "study_config", kStudyConfig),
    Output(Of("state", "state", kStudyState)),
    Output(Field("createTime", "create_time", kTimestamp)),
    Output(Field("inactiveReason", "inactive_reason", kString)),
};
constexpr MessageSchema kStudy{"google.cloud.ml.v1.Study", kStudyFields};

constexpr FieldSchema kMetricFields[] = {
    Field("metric", "metric", kString),
    Field("value", "value", kDouble),
};
constexpr MessageSchema kMetric{"google.cloud.ml.v1.Measurement.Metric", kMetricFields};

constexpr FieldSchema kMeasurementFields[] = {
    Field("elapsedTime", "elapsed_time", kDuration),
    Field("stepCount", "step_count", kInt64),
    List(Of("metrics", "metrics", kMetric)),
};
constexpr MessageSchema kMeasurement{"google.cloud.ml.v1.Measurement", kMeasurementFields};

constexpr FieldSchema kTrialParameterFields[] = {
    Field("parameter", "parameter", kString),
    InOneof(Field("floatValue", "float_value", kDouble)),
    InOneof(Field("intValue", "int_value", kInt64)),
    InOneof(Field("stringValue", "string_value", kString)),
};
constexpr MessageSchema kTrialParameter{"google.cloud.ml.v1.Trial.Parameter",
                                        kTrialParameterFields};

constexpr FieldSchema kTrialFields[] = {
    Output(Field("name", "name", kString)),
    Of("state", "state", kTrialState),
    List(Of("parameters", "parameters", kTrialParameter)),
    Of("finalMeasurement", "final_measurement", kMeasurement),
    List(Of("measurements", "measurements", kMeasurement)),
    Output(Field("startTime", "start_time", kTimestamp)),
    Output(Field("endTime", "end_time", kTimestamp)),
    Output(Field("clientId", "client_id", kString)),
    Output(Field("infeasibleReason", "infeasible_reason", kString)),
    Output(Field("trialInfeasible", "trial_infeasible", kBool)),
};
constexpr MessageSchema kTrial{"google.cloud.ml.v1.Trial", kTrialFields};

constexpr FieldSchema kSuggestFields[] = {
    Field("suggestionCount", "suggestion_count", kInt32),
    Field("clientId", "client_id", kString),
};
constexpr MessageSchema kSuggest{"google.cloud.ml.v1.SuggestTrialsRequest", kSuggestFields};

constexpr FieldSchema kAddMeasurementFields[] = {Of("measurement", "measurement", kMeasurement)};
constexpr MessageSchema kAddMeasurement{"google.cloud.ml.v1.AddTrialMeasurementRequest",
                                        kAddMeasurementFields};

constexpr FieldSchema kCompleteFields[] = {
    Of("finalMeasurement", "final_measurement", kMeasurement),
    Field("trialInfeasible", "trial_infeasible", kBool),
    Field("infeasibleReason", "infeasible_reason", kString),
};
constexpr MessageSchema kComplete{"google.cloud.ml.v1.CompleteTrialRequest", kCompleteFields};

constexpr MessageSchema kEmpty{"google.cloud.ml.v1.StopTrialRequest", {}};

constexpr FieldSchema kSuggestMetadataFields[] = {
    Field("study", "study", kString),
    Field("createTime", "create_time", kTimestamp),
    Field("suggestionCount", "suggestion_count", kInt32),
    Field("clientId", "client_id", kString),
};
constexpr MessageSchema kSuggestMetadata{"google.cloud.ml.v1.SuggestTrialsMetadata",
                                         kSuggestMetadataFields};
constexpr FieldSchema kSuggestResponseFields[] = {
    List(Of("trials", "trials", kTrial)),
    Of("studyState", "study_state", kStudyState),
    Field("startTime", "start_time", kTimestamp),
    Field("endTime", "end_time", kTimestamp),
};
constexpr MessageSchema kSuggestResponse{"google.cloud.ml.v1.SuggestTrialsResponse",
                                         kSuggestResponseFields};
constexpr FieldSchema kCheckMetadataFields[] = {
    Field("study", "study", kString),
    Field("trial", "trial", kString),
    Field("createTime", "create_time", kTimestamp),
};
constexpr MessageSchema kCheckMetadata{"google.cloud.ml.v1.CheckTrialEarlyStoppingStateMetatdata",
                                       kCheckMetadataFields};
constexpr FieldSchema kCheckResponseFields[] = {
    Field("startTime", "start_time", kTimestamp),
    Field("endTime", "end_time", kTimestamp),
    Field("shouldStop", "should_stop", kBool),
};
constexpr MessageSchema kCheckResponse{"google.cloud.ml.v1.CheckTrialEarlyStoppingStateResponse",
                                       kCheckResponseFields};

}  // namespace

const MessageSchema& StudySchema() { return kStudy; }
const MessageSchema& TrialSchema() { return kTrial; }
const MessageSchema& SuggestTrialsRequestSchema() { return kSuggest; }
const MessageSchema& AddTrialMeasurementRequestSchema() { return kAddMeasurement; }
const MessageSchema& CompleteTrialRequestSchema() { return kComplete; }
const MessageSchema& EmptyRequestSchema() { return kEmpty; }
const MessageSchema& SuggestTrialsMetadataSchema() { return kSuggestMetadata; }
const MessageSchema& SuggestTrialsResponseSchema() { return kSuggestResponse; }
const MessageSchema& CheckStoppingMetadataSchema() { return kCheckMetadata; }
const MessageSchema& CheckStoppingResponseSchema() { return kCheckResponse; }

}  // namespace caip::ml
