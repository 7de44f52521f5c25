#include "base/json.h"
#include "ml/schema/job_plain.h"

namespace caip::ml {
namespace {

std::string Text(const Json& plain, std::string_view name) { return StringOr(plain, name); }

template <typename T = int64_t>
T NumberJobFromPlain(const Json& plain, std::string_view name) {
  const Json* value = Member(plain, name);
  return value == nullptr ? T{} : value->get<T>();
}

template <typename T>
std::optional<T> Optional(const Json& plain, std::string_view name) {
  const Json* value = Member(plain, name);
  return value == nullptr ? std::nullopt : std::optional<T>(value->get<T>());
}

bool FlagJobFromPlain(const Json& plain, std::string_view name) {
  return NumberJobFromPlain<bool>(plain, name);
}

template <typename T>
std::vector<T> ListFrom(const Json& plain, std::string_view name) {
  const Json* value = Member(plain, name);
  return value == nullptr ? std::vector<T>{} : value->get<std::vector<T>>();
}

std::map<std::string, std::string> Map(const Json& plain, std::string_view name) {
  std::map<std::string, std::string> map;
  const Json* value = Member(plain, name);
  if (value == nullptr) return map;
  for (const auto& [key, entry] : value->items()) map[key] = entry.get<std::string>();
  return map;
}

std::optional<Instant> Time(const Json& plain, std::string_view name) {
  const auto count = Optional<int64_t>(plain, name);
  return count ? std::optional(Instant(Duration(*count))) : std::nullopt;
}

std::optional<Duration> Span(const Json& plain, std::string_view name) {
  const auto count = Optional<int64_t>(plain, name);
  return count ? std::optional(Duration(*count)) : std::nullopt;
}

run::JobState State(const Json& plain, std::string_view name) {
  return run::JobStateNamed(Text(plain, name)).value_or(run::JobState::kUnspecified);
}

// The message below `name`, made by `read`; nullopt where there is none.
template <typename Read>
auto Message(const Json& plain, std::string_view name, Read read) {
  const Json* value = Member(plain, name);
  return value == nullptr ? std::nullopt : std::optional(read(*value));
}

template <typename Read>
auto Messages(const Json& plain, std::string_view name, Read read) {
  std::vector<decltype(read(plain))> messages;
  const Json* list = Member(plain, name);
  if (list == nullptr) return messages;
  for (const Json& element : *list) messages.push_back(read(element));
  return messages;
}

ReplicaConfig ReadReplicaConfig(const Json& plain) {
  ReplicaConfig config;
  config.accelerator_config = Message(plain, "accelerator_config", [](const Json& value) {
    return AcceleratorConfig{NumberJobFromPlain(value, "count"), Text(value, "type")};
  });
  config.image_uri = Text(plain, "image_uri");
  config.tpu_tf_version = Text(plain, "tpu_tf_version");
  config.disk_config = Message(plain, "disk_config", [](const Json& value) {
    return DiskConfig{Text(value, "boot_disk_type"),
                      NumberJobFromPlain<int32_t>(value, "boot_disk_size_gb")};
  });
  config.container_command = ListFrom<std::string>(plain, "container_command");
  config.container_args = ListFrom<std::string>(plain, "container_args");
  return config;
}

RoleInput ReadRole(const Json& plain, const std::string& role) {
  return {Text(plain, role + "_type"), Message(plain, role + "_config", ReadReplicaConfig),
          NumberJobFromPlain(plain, role + "_count")};
}

ParameterSpec ReadParameter(const Json& plain) {
  ParameterSpec parameter;
  parameter.parameter_name = Text(plain, "parameter_name");
  parameter.type = Text(plain, "type");
  parameter.min_value = Optional<double>(plain, "min_value");
  parameter.max_value = Optional<double>(plain, "max_value");
  parameter.discrete_values = ListFrom<double>(plain, "discrete_values");
  parameter.categorical_values = ListFrom<std::string>(plain, "categorical_values");
  parameter.scale_type = Text(plain, "scale_type");
  return parameter;
}

HyperparameterSpec ReadHyperparameters(const Json& plain) {
  HyperparameterSpec spec;
  spec.goal = Text(plain, "goal");
  spec.params = Messages(plain, "params", ReadParameter);
  spec.max_trials = Optional<int32_t>(plain, "max_trials");
  spec.max_parallel_trials = Optional<int32_t>(plain, "max_parallel_trials");
  spec.max_failed_trials = NumberJobFromPlain<int32_t>(plain, "max_failed_trials");
  spec.hyperparameter_metric_tag = Text(plain, "hyperparameter_metric_tag");
  spec.enable_trial_early_stopping = FlagJobFromPlain(plain, "enable_trial_early_stopping");
  spec.resume_previous_job_id = Text(plain, "resume_previous_job_id");
  spec.algorithm = Text(plain, "algorithm");
  return spec;
}

Scheduling ReadScheduling(const Json& plain) {
  Scheduling scheduling;
  scheduling.max_running_time = Span(plain, "max_running_time");
  scheduling.max_wait_time = Span(plain, "max_wait_time");
  scheduling.priority = NumberJobFromPlain<int32_t>(plain, "priority");
  scheduling.resilient_to_worker_restart = FlagJobFromPlain(plain, "resilient_to_worker_restart");
  scheduling.strategy = Text(plain, "strategy");
  return scheduling;
}

TrainingInput ReadTrainingInput(const Json& plain) {
  TrainingInput input;
  input.scale_tier = Text(plain, "scale_tier");
  input.master = ReadRole(plain, "master");
  input.worker = ReadRole(plain, "worker");
  input.parameter_server = ReadRole(plain, "parameter_server");
  input.evaluator = ReadRole(plain, "evaluator");
  input.package_uris = ListFrom<std::string>(plain, "package_uris");
  input.python_module = Text(plain, "python_module");
  input.args = ListFrom<std::string>(plain, "args");
  input.hyperparameters = Message(plain, "hyperparameters", ReadHyperparameters);
  input.region = Text(plain, "region");
  input.job_dir = Text(plain, "job_dir");
  input.runtime_version = Text(plain, "runtime_version");
  input.python_version = Text(plain, "python_version");
  input.use_chief_in_tf_config = FlagJobFromPlain(plain, "use_chief_in_tf_config");
  input.scheduling = Message(plain, "scheduling", ReadScheduling);
  input.network = Text(plain, "network");
  input.service_account = Text(plain, "service_account");
  if (const Json* encryption = Member(plain, "encryption_config")) {
    input.has_encryption_config = true;
    input.kms_key_name = Text(*encryption, "kms_key_name");
  }
  input.enable_web_access = FlagJobFromPlain(plain, "enable_web_access");
  input.has_nas_job_spec = Member(plain, "nas_job_spec") != nullptr;
  return input;
}

BuiltInAlgorithmOutput ReadBuiltIn(const Json& plain) {
  return {Text(plain, "framework"), Text(plain, "runtime_version"), Text(plain, "python_version"),
          Text(plain, "model_path")};
}

HyperparameterOutput ReadTrial(const Json& plain) {
  HyperparameterOutput trial;
  trial.trial_id = Text(plain, "trial_id");
  trial.hyperparameters = Map(plain, "hyperparameters");
  trial.final_metric = Message(plain, "final_metric", [](const Json& value) {
    return std::pair(NumberJobFromPlain(value, "training_step"),
                     NumberJobFromPlain<double>(value, "objective_value"));
  });
  trial.is_trial_stopped_early = FlagJobFromPlain(plain, "is_trial_stopped_early");
  trial.state = State(plain, "state");
  trial.start_time = Time(plain, "start_time");
  trial.end_time = Time(plain, "end_time");
  trial.built_in_algorithm_output = Message(plain, "built_in_algorithm_output", ReadBuiltIn);
  trial.web_access_uris = Map(plain, "web_access_uris");
  return trial;
}

TrainingOutput ReadTrainingOutput(const Json& plain) {
  TrainingOutput output;
  output.completed_trial_count = NumberJobFromPlain(plain, "completed_trial_count");
  output.trials = Messages(plain, "trials", ReadTrial);
  output.consumed_ml_units = NumberJobFromPlain<double>(plain, "consumed_ml_units");
  output.is_hyperparameter_tuning_job = FlagJobFromPlain(plain, "is_hyperparameter_tuning_job");
  output.is_built_in_algorithm_job = FlagJobFromPlain(plain, "is_built_in_algorithm_job");
  output.built_in_algorithm_output = Message(plain, "built_in_algorithm_output", ReadBuiltIn);
  output.hyperparameter_metric_tag = Text(plain, "hyperparameter_metric_tag");
  output.web_access_uris = Map(plain, "web_access_uris");
  return output;
}

}  // namespace

Job JobFromPlain(const Json& plain) {
  Job job;
  job.job_id = Text(plain, "job_id");
  job.training_input = Message(plain, "training_input", ReadTrainingInput);
  job.has_prediction_input = Member(plain, "prediction_input") != nullptr;
  job.has_explanation_input = Member(plain, "explanation_input") != nullptr;
  job.labels = Map(plain, "labels");
  job.etag = Text(plain, "etag");
  job.state = State(plain, "state");
  job.create_time = Time(plain, "create_time");
  job.start_time = Time(plain, "start_time");
  job.end_time = Time(plain, "end_time");
  job.error_message = Text(plain, "error_message");
  job.training_output = Message(plain, "training_output", ReadTrainingOutput);
  job.job_position = NumberJobFromPlain(plain, "job_position");
  return job;
}

}  // namespace caip::ml
