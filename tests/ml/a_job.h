#pragma once
// Valid jobs, to be changed in one thing.

#include <functional>
#include <string>
#include <vector>

#include "ml/job.h"
#include "ml/validate/validate.h"

namespace caip::ml {

/// A Python job of tier BASIC.
inline Job AJob() {
  Job job;
  job.job_id = "census_1";
  TrainingInput& input = job.training_input.emplace();
  input.scale_tier = "BASIC";
  input.package_uris = {"gs://bkt/j1/5f0a/trainer-0.0.0.tar.gz"};
  input.python_module = "trainer.task";
  input.region = "us-central1";
  input.runtime_version = "2.4";
  input.python_version = "3.7";
  return job;
}

/// A Python job on machines of its own choice: one master.
inline Job ACustomJob(const std::string& master_type = "n1-standard-8") {
  Job job = AJob();
  job.training_input->scale_tier = "CUSTOM";
  job.training_input->master.machine_type = master_type;
  return job;
}

/// A job that runs an image on a machine of its own choice.
inline Job AContainerJob() {
  Job job = ACustomJob();
  TrainingInput& input = *job.training_input;
  input.package_uris.clear();
  input.python_module.clear();
  input.runtime_version.clear();
  input.python_version.clear();
  input.master.config.emplace().image_uri = "gcr.io/my-project/trainer:v1";
  return job;
}

/// A Python job with a TPU beside its master.
inline Job ATpuJob() {
  Job job = ACustomJob("n1-standard-8");
  job.training_input->worker.machine_type = "cloud_tpu";
  job.training_input->worker.count = 1;
  job.training_input->runtime_version = "2.1";
  return job;
}

/// The example of the documentation: one parameter of each type but DOUBLE, and a DOUBLE.
inline Job ATuningJob() {
  Job job = AJob();
  HyperparameterSpec& spec = job.training_input->hyperparameters.emplace();
  spec.goal = "MAXIMIZE";
  spec.max_trials = 30;
  spec.max_parallel_trials = 2;
  spec.hyperparameter_metric_tag = "metric1";
  ParameterSpec hidden{"hidden1", "INTEGER", 40, 400, {}, {}, "UNIT_LINEAR_SCALE"};
  ParameterSpec cells{"numRnnCells", "DISCRETE", {}, {}, {1, 2, 3, 4}, {}, ""};
  ParameterSpec kind{"rnnCellType", "CATEGORICAL", {}, {}, {}, {"GRUCell", "LSTMCell"}, ""};
  ParameterSpec rate{"learning_rate", "DOUBLE", 0.001, 0.1, {}, {}, "UNIT_LOG_SCALE"};
  spec.params = {hidden, cells, kind, rate};
  return job;
}

/// "field: description", one for each violation: what a failing test shows.
inline std::vector<std::string> Told(const std::vector<FieldViolation>& violations) {
  std::vector<std::string> lines;
  for (const FieldViolation& violation : violations) {
    lines.push_back(violation.field + ": " + violation.description);
  }
  return lines;
}

/// One sentence of the documentation: `change` breaks it in a valid job, which is then refused.
struct BrokenRule {
  const char* rule;
  std::function<void(TrainingInput&)> change;
  const char* field;
  const char* told;  // a part of the description
};

/// A use that the documentation allows.
struct AllowedUse {
  const char* rule;
  std::function<void(TrainingInput&)> change;
};

}  // namespace caip::ml
