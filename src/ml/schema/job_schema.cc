// The messages of a Job. The order of the fields is that in which they are written.

#include "ml/schema/job_schema.h"

#include "google/message_schema.h"

namespace caip::ml {
namespace {

using namespace google::fields;
using enum google::FieldKind;
using google::EnumSchema;
using google::FieldSchema;
using google::MessageSchema;

constexpr std::string_view kScaleTierNames[] = {"BASIC",     "STANDARD_1", "PREMIUM_1",
                                                "BASIC_GPU", "BASIC_TPU",  "CUSTOM"};
constexpr EnumSchema kScaleTier{"google.cloud.ml.v1.TrainingInput.ScaleTier", kScaleTierNames};

constexpr std::string_view kAcceleratorTypeNames[] = {"ACCELERATOR_TYPE_UNSPECIFIED",
                                                      "NVIDIA_TESLA_K80",
                                                      "NVIDIA_TESLA_P100",
                                                      "NVIDIA_TESLA_V100",
                                                      "NVIDIA_TESLA_P4",
                                                      "NVIDIA_TESLA_T4",
                                                      "NVIDIA_TESLA_A100",
                                                      "TPU_V2",
                                                      "TPU_V3",
                                                      "TPU_V2_POD",
                                                      "TPU_V3_POD",
                                                      "TPU_V4_POD"};
constexpr EnumSchema kAcceleratorType{"google.cloud.ml.v1.AcceleratorType", kAcceleratorTypeNames};

constexpr std::string_view kStrategyNames[] = {"STRATEGY_UNSPECIFIED", "ON_DEMAND", "LOW_COST"};
constexpr EnumSchema kStrategy{"google.cloud.ml.v1.Scheduling.Strategy", kStrategyNames};

constexpr std::string_view kGoalNames[] = {"GOAL_TYPE_UNSPECIFIED", "MAXIMIZE", "MINIMIZE"};
constexpr EnumSchema kGoal{"google.cloud.ml.v1.HyperparameterSpec.GoalType", kGoalNames};

constexpr std::string_view kAlgorithmNames[] = {"ALGORITHM_UNSPECIFIED", "GRID_SEARCH",
                                                "RANDOM_SEARCH", "POPULATION_BASED_TRAINING"};
constexpr EnumSchema kAlgorithm{"google.cloud.ml.v1.HyperparameterSpec.Algorithm", kAlgorithmNames};

constexpr std::string_view kParameterTypeNames[] = {"PARAMETER_TYPE_UNSPECIFIED", "DOUBLE",
                                                    "INTEGER", "CATEGORICAL", "DISCRETE"};
constexpr EnumSchema kParameterType{"google.cloud.ml.v1.ParameterSpec.ParameterType",
                                    kParameterTypeNames};

constexpr std::string_view kScaleTypeNames[] = {"NONE", "UNIT_LINEAR_SCALE", "UNIT_LOG_SCALE",
                                                "UNIT_REVERSE_LOG_SCALE"};
constexpr EnumSchema kScaleType{"google.cloud.ml.v1.ParameterSpec.ScaleType", kScaleTypeNames};

constexpr std::string_view kJobSchemaStateNames[] = {"STATE_UNSPECIFIED", "QUEUED",    "PREPARING",
                                                     "RUNNING",           "SUCCEEDED", "FAILED",
                                                     "CANCELLING",        "CANCELLED"};
constexpr EnumSchema kState{"google.cloud.ml.v1.Job.State", kJobSchemaStateNames};

constexpr FieldSchema kAcceleratorConfigFields[] = {
    Field("count", "count", kInt64),
    Of("type", "type", kAcceleratorType),
};
constexpr MessageSchema kAcceleratorConfig{"google.cloud.ml.v1.AcceleratorConfig",
                                           kAcceleratorConfigFields};

constexpr FieldSchema kDiskConfigFields[] = {
    Field("bootDiskType", "boot_disk_type", kString),
    Field("bootDiskSizeGb", "boot_disk_size_gb", kInt32),
};
constexpr MessageSchema kDiskConfig{"google.cloud.ml.v1.DiskConfig", kDiskConfigFields};

constexpr FieldSchema kReplicaConfigFields[] = {
    Of("acceleratorConfig", "accelerator_config", kAcceleratorConfig),
    Field("imageUri", "image_uri", kString),
    Field("tpuTfVersion", "tpu_tf_version", kString),
    Of("diskConfig", "disk_config", kDiskConfig),
    Repeated("containerCommand", "container_command", kString),
    Repeated("containerArgs", "container_args", kString),
};
constexpr MessageSchema kReplicaConfig{"google.cloud.ml.v1.ReplicaConfig", kReplicaConfigFields};

constexpr FieldSchema kParameterSpecFields[] = {
    Field("parameterName", "parameter_name", kString),
    Of("type", "type", kParameterType),
    Field("minValue", "min_value", kDouble),
    Field("maxValue", "max_value", kDouble),
    Repeated("discreteValues", "discrete_values", kDouble),
    Repeated("categoricalValues", "categorical_values", kString),
    Of("scaleType", "scale_type", kScaleType),
};
constexpr MessageSchema kParameterSpec{"google.cloud.ml.v1.ParameterSpec", kParameterSpecFields};

constexpr FieldSchema kHyperparameterSpecFields[] = {
    Of("goal", "goal", kGoal),
    List(Of("params", "params", kParameterSpec)),
    Field("maxTrials", "max_trials", kInt32),
    Field("maxParallelTrials", "max_parallel_trials", kInt32),
    Field("maxFailedTrials", "max_failed_trials", kInt32),
    Field("hyperparameterMetricTag", "hyperparameter_metric_tag", kString),
    Field("enableTrialEarlyStopping", "enable_trial_early_stopping", kBool),
    Field("resumePreviousJobId", "resume_previous_job_id", kString),
    Of("algorithm", "algorithm", kAlgorithm),
};
constexpr MessageSchema kHyperparameterSpec{"google.cloud.ml.v1.HyperparameterSpec",
                                            kHyperparameterSpecFields};

constexpr FieldSchema kSchedulingFields[] = {
    Field("maxRunningTime", "max_running_time", kDuration),
    Field("maxWaitTime", "max_wait_time", kDuration),
    Field("priority", "priority", kInt32),
    Field("resilientToWorkerRestart", "resilient_to_worker_restart", kBool),
    Of("strategy", "strategy", kStrategy),
};
constexpr MessageSchema kScheduling{"google.cloud.ml.v1.Scheduling", kSchedulingFields};

constexpr FieldSchema kEncryptionConfigFields[] = {
    Field("kmsKeyName", "kms_key_name", kString),
};
constexpr MessageSchema kEncryptionConfig{"google.cloud.ml.v1.EncryptionConfig",
                                          kEncryptionConfigFields};

constexpr FieldSchema kTrainingInputFields[] = {
    Of("scaleTier", "scale_tier", kScaleTier),
    Field("masterType", "master_type", kString),
    Of("masterConfig", "master_config", kReplicaConfig),
    Field("workerType", "worker_type", kString),
    Of("workerConfig", "worker_config", kReplicaConfig),
    Field("parameterServerType", "parameter_server_type", kString),
    Of("parameterServerConfig", "parameter_server_config", kReplicaConfig),
    Field("evaluatorType", "evaluator_type", kString),
    Of("evaluatorConfig", "evaluator_config", kReplicaConfig),
    Field("workerCount", "worker_count", kInt64),
    Field("parameterServerCount", "parameter_server_count", kInt64),
    Field("evaluatorCount", "evaluator_count", kInt64),
    Repeated("packageUris", "package_uris", kString),
    Field("pythonModule", "python_module", kString),
    Repeated("args", "args", kString),
    Of("hyperparameters", "hyperparameters", kHyperparameterSpec),
    Field("region", "region", kString),
    Field("runtimeVersion", "runtime_version", kString),
    Field("pythonVersion", "python_version", kString),
    Field("jobDir", "job_dir", kString),
    Field("useChiefInTfConfig", "use_chief_in_tf_config", kBool),
    Of("scheduling", "scheduling", kScheduling),
    Field("network", "network", kString),
    Field("serviceAccount", "service_account", kString),
    Of("encryptionConfig", "encryption_config", kEncryptionConfig),
    Field("enableWebAccess", "enable_web_access", kBool),
    Field("nasJobSpec", "nas_job_spec", kOpaque),
};
constexpr MessageSchema kTrainingInput{"google.cloud.ml.v1.TrainingInput", kTrainingInputFields};

constexpr FieldSchema kHyperparameterMetricFields[] = {
    Field("trainingStep", "training_step", kInt64),
    Field("objectiveValue", "objective_value", kDouble),
};
constexpr MessageSchema kHyperparameterMetric{
    "google.cloud.ml.v1.HyperparameterOutput.HyperparameterMetric", kHyperparameterMetricFields};

constexpr FieldSchema kBuiltInAlgorithmOutputFields[] = {
    Field("framework", "framework", kString),
    Field("runtimeVersion", "runtime_version", kString),
    Field("pythonVersion", "python_version", kString),
    Field("modelPath", "model_path", kString),
};
constexpr MessageSchema kBuiltInAlgorithmOutput{"google.cloud.ml.v1.BuiltInAlgorithmOutput",
                                                kBuiltInAlgorithmOutputFields};

constexpr FieldSchema kHyperparameterOutputFields[] = {
    Field("trialId", "trial_id", kString),
    Field("hyperparameters", "hyperparameters", kStringMap),
    Of("finalMetric", "final_metric", kHyperparameterMetric),
    List(Of("allMetrics", "all_metrics", kHyperparameterMetric)),
    Field("isTrialStoppedEarly", "is_trial_stopped_early", kBool),
    Of("state", "state", kState),
    Field("startTime", "start_time", kTimestamp),
    Field("endTime", "end_time", kTimestamp),
    Of("builtInAlgorithmOutput", "built_in_algorithm_output", kBuiltInAlgorithmOutput),
    Field("webAccessUris", "web_access_uris", kStringMap),
};
constexpr MessageSchema kHyperparameterOutput{"google.cloud.ml.v1.HyperparameterOutput",
                                              kHyperparameterOutputFields};

constexpr FieldSchema kTrainingOutputFields[] = {
    Field("completedTrialCount", "completed_trial_count", kInt64),
    List(Of("trials", "trials", kHyperparameterOutput)),
    Field("consumedMLUnits", "consumed_ml_units", kDouble),
    Field("isHyperparameterTuningJob", "is_hyperparameter_tuning_job", kBool),
    Field("isBuiltInAlgorithmJob", "is_built_in_algorithm_job", kBool),
    Of("builtInAlgorithmOutput", "built_in_algorithm_output", kBuiltInAlgorithmOutput),
    Field("hyperparameterMetricTag", "hyperparameter_metric_tag", kString),
    Field("webAccessUris", "web_access_uris", kStringMap),
    Field("nasJobOutput", "nas_job_output", kOpaque),
};
constexpr MessageSchema kTrainingOutput{"google.cloud.ml.v1.TrainingOutput", kTrainingOutputFields};

constexpr FieldSchema kJobFields[] = {
    Field("jobId", "job_id", kString),
    Of("trainingInput", "training_input", kTrainingInput),
    Field("predictionInput", "prediction_input", kOpaque),
    Field("explanationInput", "explanation_input", kOpaque),
    Output(Field("createTime", "create_time", kTimestamp)),
    Output(Field("startTime", "start_time", kTimestamp)),
    Output(Field("endTime", "end_time", kTimestamp)),
    Output(Of("state", "state", kState)),
    Output(Field("errorMessage", "error_message", kString)),
    Output(Of("trainingOutput", "training_output", kTrainingOutput)),
    Output(Field("predictionOutput", "prediction_output", kOpaque)),
    Output(Field("explanationOutput", "explanation_output", kOpaque)),
    Field("labels", "labels", kStringMap),
    Field("etag", "etag", kBytes),
    Output(Field("jobPosition", "job_position", kInt64)),
};
constexpr MessageSchema kJob{"google.cloud.ml.v1.Job", kJobFields};

}  // namespace

const MessageSchema& JobSchema() { return kJob; }
const MessageSchema& TrainingInputSchema() { return kTrainingInput; }

}  // namespace caip::ml
