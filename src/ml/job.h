#pragma once
// The Job resource of ml.googleapis.com v1 and its parts (spec page: REST reference,
// projects.jobs). Plain values; unset optional = absent in the JSON. Enum-like texts that the
// service lists as data (machine types, accelerators, regions) stay text: catalog.h knows which are
// legal.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "ml/replica.h"
#include "run/lifecycle.h"

namespace caip::ml {

struct AcceleratorConfig {
  int64_t count = 0;
  std::string type;  // "NVIDIA_TESLA_T4"; "" or "ACCELERATOR_TYPE_UNSPECIFIED" when unspecified
};

struct DiskConfig {
  std::string boot_disk_type;
  int32_t boot_disk_size_gb = 0;  // 0: unset
};

struct ReplicaConfig {
  std::optional<AcceleratorConfig> accelerator_config;
  std::string image_uri;
  std::string tpu_tf_version;
  std::optional<DiskConfig> disk_config;
  std::vector<std::string> container_command;
  std::vector<std::string> container_args;
};

/// What the job asks of one role: `type`, `config` and, but for the master, `count`.
struct RoleInput {
  std::string machine_type;
  std::optional<ReplicaConfig> config;
  int64_t count = 0;
};

struct Scheduling {
  std::optional<Duration> max_running_time;
  std::optional<Duration> max_wait_time;
  int32_t priority = 0;
  bool resilient_to_worker_restart = false;
  std::string strategy;  // "", "STRATEGY_UNSPECIFIED", "ON_DEMAND", "LOW_COST"
};

struct ParameterSpec {
  std::string parameter_name;
  std::string type;  // "DOUBLE", "INTEGER", "CATEGORICAL", "DISCRETE"; "" unset
  std::optional<double> min_value;
  std::optional<double> max_value;
  std::vector<double> discrete_values;
  std::vector<std::string> categorical_values;
  std::string scale_type;  // "" unset, "NONE", "UNIT_LINEAR_SCALE", ...
};

struct HyperparameterSpec {
  std::string goal;  // "", "GOAL_TYPE_UNSPECIFIED", "MAXIMIZE", "MINIMIZE"
  std::vector<ParameterSpec> params;
  std::optional<int32_t> max_trials;
  std::optional<int32_t> max_parallel_trials;
  int32_t max_failed_trials = 0;
  std::string hyperparameter_metric_tag;
  bool enable_trial_early_stopping = false;
  std::string resume_previous_job_id;
  std::string algorithm;
};

struct TrainingInput {
  std::string scale_tier;  // "" unset, "BASIC", "STANDARD_1", ..., "CUSTOM"
  RoleInput master;        // count is always 1 and not in the JSON
  RoleInput worker;
  RoleInput parameter_server;
  RoleInput evaluator;
  std::vector<std::string> package_uris;
  std::string python_module;
  std::vector<std::string> args;
  std::optional<HyperparameterSpec> hyperparameters;
  std::string region;
  std::string job_dir;
  std::string runtime_version;
  std::string python_version;
  bool use_chief_in_tf_config = false;
  std::optional<Scheduling> scheduling;
  std::string network;
  std::string service_account;
  std::string kms_key_name;  // encryptionConfig.kmsKeyName
  bool has_encryption_config = false;
  bool enable_web_access = false;
  bool has_nas_job_spec = false;  // architecture search is not ours to run: Validate refuses it

  const RoleInput& Of(Role role) const;
  RoleInput& Of(Role role) {
    return const_cast<RoleInput&>(static_cast<const TrainingInput*>(this)->Of(role));
  }
  /// True where masterConfig.imageUri is set: the job runs a container, not a Python module.
  bool UsesContainer() const { return master.config && !master.config->image_uri.empty(); }
};

/// What a built-in algorithm makes; `model_path` only when it succeeded without tuning.
struct BuiltInAlgorithmOutput {
  std::string framework;
  std::string runtime_version;
  std::string python_version;
  std::string model_path;
};

struct HyperparameterOutput {
  std::string trial_id;
  std::map<std::string, std::string> hyperparameters;
  std::optional<std::pair<int64_t, double>> final_metric;  // trainingStep, objectiveValue
  bool is_trial_stopped_early = false;
  run::JobState state = run::JobState::kUnspecified;
  std::optional<Instant> start_time;
  std::optional<Instant> end_time;
  std::optional<BuiltInAlgorithmOutput> built_in_algorithm_output;
  std::map<std::string, std::string> web_access_uris;
};

struct TrainingOutput {
  int64_t completed_trial_count = 0;
  std::vector<HyperparameterOutput> trials;
  double consumed_ml_units = 0;
  bool is_hyperparameter_tuning_job = false;
  bool is_built_in_algorithm_job = false;
  std::optional<BuiltInAlgorithmOutput> built_in_algorithm_output;
  std::string hyperparameter_metric_tag;
  std::map<std::string, std::string> web_access_uris;  // by task name: "master-replica-0"
};

struct Job {
  std::string job_id;
  std::optional<TrainingInput> training_input;
  // Not ours to run, kept so that the one-of rule can name them: predictionInput, explanationInput.
  bool has_prediction_input = false;
  bool has_explanation_input = false;
  std::map<std::string, std::string> labels;
  std::string etag;  // raw bytes; base64 in the JSON

  // Output only.
  run::JobState state = run::JobState::kUnspecified;
  std::optional<Instant> create_time;
  std::optional<Instant> start_time;
  std::optional<Instant> end_time;
  std::string error_message;
  std::optional<TrainingOutput> training_output;
  int64_t job_position = 0;
};

}  // namespace caip::ml
