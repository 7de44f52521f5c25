#include "base/json.h"
#include "ml/schema/job_plain.h"

namespace caip::ml {
namespace {

// Puts members into a tree, unless they have the default of proto3: those are not written.
class Plain {
 public:
  Plain& Put(const char* name, const std::string& text) {
    if (!text.empty()) json_[name] = text;
    return *this;
  }
  Plain& Put(const char* name, bool flag) {
    if (flag) json_[name] = true;
    return *this;
  }
  Plain& Put(const char* name, int64_t number) {
    if (number != 0) json_[name] = number;
    return *this;
  }
  Plain& Put(const char* name, double number) {
    if (number != 0) json_[name] = number;
    return *this;
  }
  Plain& Put(const char* name, const std::map<std::string, std::string>& map) {
    if (!map.empty()) json_[name] = map;
    return *this;
  }
  template <typename T>
  Plain& Put(const char* name, const std::vector<T>& list) {
    if (!list.empty()) json_[name] = list;
    return *this;
  }
  /// Writes a value that is set, even if it is zero: a bound of 0 is a bound.
  template <typename T>
  Plain& PutPresent(const char* name, const std::optional<T>& value) {
    if (value) json_[name] = *value;
    return *this;
  }
  Plain& PutTime(const char* name, const std::optional<Instant>& time) {
    if (time) json_[name] = time->time_since_epoch().count();
    return *this;
  }
  Plain& PutSpan(const char* name, const std::optional<Duration>& span) {
    if (span) json_[name] = span->count();
    return *this;
  }
  /// Omits the zero value of an enum: "..._UNSPECIFIED", or NONE of a scale type.
  Plain& PutEnum(const char* name, const std::string& value) {
    return value.ends_with("_UNSPECIFIED") || value == "NONE" ? *this : Put(name, value);
  }
  Plain& PutState(const char* name, run::JobState state) {
    return PutEnum(name, std::string(Name(state)));
  }
  template <typename T>
  Plain& PutMessage(const char* name, const std::optional<T>& message, Json (*write)(const T&)) {
    if (message) json_[name] = write(*message);
    return *this;
  }
  template <typename T>
  Plain& PutMessages(const char* name, const std::vector<T>& messages, Json (*write)(const T&)) {
    for (const T& message : messages) json_[name].push_back(write(message));
    return *this;
  }
  Json Take() { return std::move(json_); }

 private:
  Json json_ = Json::object();
};

Json Write(const AcceleratorConfig& config) {
  return Plain().Put("count", config.count).PutEnum("type", config.type).Take();
}

Json Write(const DiskConfig& config) {
  return Plain()
      .Put("boot_disk_type", config.boot_disk_type)
      .Put("boot_disk_size_gb", int64_t{config.boot_disk_size_gb})
      .Take();
}

Json Write(const ReplicaConfig& config) {
  return Plain()
      .PutMessage("accelerator_config", config.accelerator_config, &Write)
      .Put("image_uri", config.image_uri)
      .Put("tpu_tf_version", config.tpu_tf_version)
      .PutMessage("disk_config", config.disk_config, &Write)
      .Put("container_command", config.container_command)
      .Put("container_args", config.container_args)
      .Take();
}

Json Write(const ParameterSpec& parameter) {
  return Plain()
      .Put("parameter_name", parameter.parameter_name)
      .PutEnum("type", parameter.type)
      .PutPresent("min_value", parameter.min_value)
      .PutPresent("max_value", parameter.max_value)
      .Put("discrete_values", parameter.discrete_values)
      .Put("categorical_values", parameter.categorical_values)
      .PutEnum("scale_type", parameter.scale_type)
      .Take();
}

Json Write(const HyperparameterSpec& spec) {
  return Plain()
      .PutEnum("goal", spec.goal)
      .PutMessages("params", spec.params, &Write)
      .PutPresent("max_trials", spec.max_trials)
      .PutPresent("max_parallel_trials", spec.max_parallel_trials)
      .Put("max_failed_trials", int64_t{spec.max_failed_trials})
      .Put("hyperparameter_metric_tag", spec.hyperparameter_metric_tag)
      .Put("enable_trial_early_stopping", spec.enable_trial_early_stopping)
      .Put("resume_previous_job_id", spec.resume_previous_job_id)
      .PutEnum("algorithm", spec.algorithm)
      .Take();
}

Json Write(const Scheduling& scheduling) {
  return Plain()
      .PutSpan("max_running_time", scheduling.max_running_time)
      .PutSpan("max_wait_time", scheduling.max_wait_time)
      .Put("priority", int64_t{scheduling.priority})
      .Put("resilient_to_worker_restart", scheduling.resilient_to_worker_restart)
      .PutEnum("strategy", scheduling.strategy)
      .Take();
}

Json Write(const BuiltInAlgorithmOutput& output) {
  return Plain()
      .Put("framework", output.framework)
      .Put("runtime_version", output.runtime_version)
      .Put("python_version", output.python_version)
      .Put("model_path", output.model_path)
      .Take();
}

Json Write(const std::pair<int64_t, double>& metric) {
  return Plain()
      .Put("training_step", metric.first)
      .PutPresent("objective_value", std::optional(metric.second))
      .Take();
}

Json Write(const HyperparameterOutput& trial) {
  return Plain()
      .Put("trial_id", trial.trial_id)
      .Put("hyperparameters", trial.hyperparameters)
      .PutMessage("final_metric", trial.final_metric, &Write)
      .Put("is_trial_stopped_early", trial.is_trial_stopped_early)
      .PutState("state", trial.state)
      .PutTime("start_time", trial.start_time)
      .PutTime("end_time", trial.end_time)
      .PutMessage("built_in_algorithm_output", trial.built_in_algorithm_output, &Write)
      .Put("web_access_uris", trial.web_access_uris)
      .Take();
}

Json Write(const TrainingOutput& output) {
  return Plain()
      .Put("completed_trial_count", output.completed_trial_count)
      .PutMessages("trials", output.trials, &Write)
      .Put("consumed_ml_units", output.consumed_ml_units)
      .Put("is_hyperparameter_tuning_job", output.is_hyperparameter_tuning_job)
      .Put("is_built_in_algorithm_job", output.is_built_in_algorithm_job)
      .PutMessage("built_in_algorithm_output", output.built_in_algorithm_output, &Write)
      .Put("hyperparameter_metric_tag", output.hyperparameter_metric_tag)
      .Put("web_access_uris", output.web_access_uris)
      .Take();
}

Json Empty(const bool&) { return Json::object(); }

// A message of which only the presence is kept.
std::optional<bool> If(bool present) { return present ? std::optional(true) : std::nullopt; }

}  // namespace

Json PlainFromTrainingInput(const TrainingInput& input) {
  Plain plain;
  plain.PutEnum("scale_tier", input.scale_tier)
      .Put("package_uris", input.package_uris)
      .Put("python_module", input.python_module)
      .Put("args", input.args)
      .PutMessage("hyperparameters", input.hyperparameters, &Write)
      .Put("region", input.region)
      .Put("job_dir", input.job_dir)
      .Put("runtime_version", input.runtime_version)
      .Put("python_version", input.python_version)
      .Put("use_chief_in_tf_config", input.use_chief_in_tf_config)
      .PutMessage("scheduling", input.scheduling, &Write)
      .Put("network", input.network)
      .Put("service_account", input.service_account)
      .Put("enable_web_access", input.enable_web_access)
      .PutMessage("nas_job_spec", If(input.has_nas_job_spec), &Empty);
  for (const auto& [name, role] :
       {std::pair<std::string, const RoleInput&>("master", input.master),
        std::pair<std::string, const RoleInput&>("worker", input.worker),
        std::pair<std::string, const RoleInput&>("parameter_server", input.parameter_server),
        std::pair<std::string, const RoleInput&>("evaluator", input.evaluator)}) {
    plain.Put((name + "_type").c_str(), role.machine_type)
        .PutMessage((name + "_config").c_str(), role.config, &Write);
    if (name != "master") plain.Put((name + "_count").c_str(), role.count);
  }
  Json json = plain.Take();
  if (input.has_encryption_config || !input.kms_key_name.empty()) {
    json["encryption_config"] = Plain().Put("kms_key_name", input.kms_key_name).Take();
  }
  return json;
}

Json PlainFromJob(const Job& job) {
  return Plain()
      .Put("job_id", job.job_id)
      .PutMessage("training_input", job.training_input, &PlainFromTrainingInput)
      .PutMessage("prediction_input", If(job.has_prediction_input), &Empty)
      .PutMessage("explanation_input", If(job.has_explanation_input), &Empty)
      .PutTime("create_time", job.create_time)
      .PutTime("start_time", job.start_time)
      .PutTime("end_time", job.end_time)
      .PutState("state", job.state)
      .Put("error_message", job.error_message)
      .PutMessage("training_output", job.training_output, &Write)
      .Put("labels", job.labels)
      .Put("etag", job.etag)
      .Put("job_position", job.job_position)
      .Take();
}

}  // namespace caip::ml
