#pragma once
// Tuning jobs for the tests of the engine.

#include <string>
#include <vector>

#include "tests/support/simulated_engine.h"

namespace caip::engine {

/// `AJob` with one DOUBLE "rate" of [0.1, 1], random search, metric "accuracy".
inline ml::Job ATuningJob(const std::string& id, int trials, int parallel = 1, int workers = 0) {
  ml::Job job = AJob(id, workers, 0);
  ml::HyperparameterSpec& tuning = job.training_input->hyperparameters.emplace();
  tuning.goal = "MAXIMIZE";
  tuning.hyperparameter_metric_tag = "accuracy";
  tuning.algorithm = "RANDOM_SEARCH";
  tuning.max_trials = trials;
  tuning.max_parallel_trials = parallel;
  ml::ParameterSpec& rate = tuning.params.emplace_back();
  rate.parameter_name = "rate";
  rate.type = "DOUBLE";
  rate.min_value = 0.1;
  rate.max_value = 1;
  return job;
}

/// The same with a CATEGORICAL "kind" of a, b, c instead of the rate, searched as a grid.
inline ml::Job AGridJob(const std::string& id, int trials, int parallel = 1) {
  ml::Job job = ATuningJob(id, trials, parallel);
  ml::HyperparameterSpec& tuning = *job.training_input->hyperparameters;
  tuning.algorithm = "GRID_SEARCH";
  tuning.params.clear();
  ml::ParameterSpec& kind = tuning.params.emplace_back();
  kind.parameter_name = "kind";
  kind.type = "CATEGORICAL";
  kind.categorical_values = {"a", "b", "c"};
  return job;
}

/// A report of the metric file at that second of the trainer's life.
inline std::pair<Duration, Report> ReportAt(int second, int64_t step, double value) {
  return {std::chrono::seconds(second), Report{step, value, 1000.0 + second, false}};
}

}  // namespace caip::engine
