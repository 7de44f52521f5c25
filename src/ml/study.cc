#include "ml/study.h"

namespace caip::ml {
namespace {

tuning::ValueType TypeNamed(std::string_view name) {
  if (name == "INTEGER") return tuning::ValueType::kInteger;
  if (name == "DISCRETE") return tuning::ValueType::kDiscrete;
  if (name == "CATEGORICAL") return tuning::ValueType::kCategorical;
  return tuning::ValueType::kDouble;
}

tuning::Parameter ParameterOf(const ParameterSpec& spec) {
  tuning::Parameter parameter{spec.parameter_name, TypeNamed(spec.type),
                              tuning::ParseScale(spec.scale_type)};
  if (parameter.type == tuning::ValueType::kDouble) {
    parameter.least = spec.min_value.value_or(0);
    parameter.most = spec.max_value.value_or(0);
  } else if (parameter.type == tuning::ValueType::kInteger) {
    parameter.least_integer = static_cast<int64_t>(spec.min_value.value_or(0));
    parameter.most_integer = static_cast<int64_t>(spec.max_value.value_or(0));
  }
  parameter.numbers = spec.discrete_values;
  parameter.categories = tuning::Distinct(spec.categorical_values);
  return parameter;
}

tuning::Algorithm AlgorithmNamed(std::string_view name) {
  if (name == "GRID_SEARCH") return tuning::Algorithm::kGrid;
  if (name == "RANDOM_SEARCH") return tuning::Algorithm::kRandom;
  return tuning::Algorithm::kBayesian;
}

}  // namespace

tuning::Space SpaceOf(const HyperparameterSpec& spec) {
  std::vector<tuning::Parameter> parameters;
  for (const ParameterSpec& parameter : spec.params) {
    parameters.push_back(ParameterOf(parameter));
  }
  return tuning::Space(std::move(parameters));
}

tuning::Study StudyOf(const HyperparameterSpec& spec) {
  const tuning::Goal goal =
      spec.goal == "MINIMIZE" ? tuning::Goal::kMinimize : tuning::Goal::kMaximize;
  return {SpaceOf(spec), {goal}, AlgorithmNamed(spec.algorithm)};
}

run::StudyProgress ProgressAtTheStart(const HyperparameterSpec& spec) {
  return {.max_trials = spec.max_trials.value_or(1),
          .max_parallel = spec.max_parallel_trials.value_or(1),
          .max_failed = spec.max_failed_trials};
}

}  // namespace caip::ml
