#include "vertex/study.h"

#include <algorithm>

#include "vertex/limits.h"

namespace caip::vertex {
namespace {

template <typename T>
void AddParentValues(const std::optional<std::vector<T>>& values, tuning::Parameter& parameter) {
  if (!values) return;
  parameter.parent_values.insert(parameter.parent_values.end(), values->begin(), values->end());
}

tuning::Parameter ParameterOf(const StudyParameter& spec) {
  tuning::Parameter parameter{spec.id, *spec.Type(), tuning::ParseScale(spec.scale)};
  if (spec.doubles) {
    parameter.least = spec.doubles->least.value_or(0);
    parameter.most = spec.doubles->most.value_or(0);
  } else if (spec.integers) {
    parameter.least_integer = spec.integers->least.value_or(0);
    parameter.most_integer = spec.integers->most.value_or(0);
  } else if (spec.numbers) {
    parameter.numbers = spec.numbers->values;
  } else {
    parameter.categories = tuning::Distinct(spec.categories->values);
  }
  AddParentValues(spec.parent_numbers, parameter);
  AddParentValues(spec.parent_integers, parameter);
  AddParentValues(spec.parent_categories, parameter);
  return parameter;
}

void AddParameters(const std::vector<StudyParameter>& specs, std::optional<size_t> parent,
                   std::vector<tuning::Parameter>& all) {
  for (const StudyParameter& spec : specs) {
    const size_t own = all.size();
    all.push_back(ParameterOf(spec));
    all.back().parent = parent;
    AddParameters(spec.children, own, all);
  }
}

tuning::Algorithm AlgorithmOf(const StudySpec& study) {
  if (study.IsGrid()) return tuning::Algorithm::kGrid;
  return study.algorithm == "RANDOM_SEARCH" ? tuning::Algorithm::kRandom
                                            : tuning::Algorithm::kBayesian;
}

}  // namespace

run::TuningSpec TuningSpecOf(const TuningJob& job) {
  const StudySpec& study = *job.study;
  const StudyMetric& metric = study.metrics.front();
  std::vector<tuning::Parameter> parameters;
  AddParameters(study.parameters, std::nullopt, parameters);
  const tuning::Goal goal =
      metric.goal == "MINIMIZE" ? tuning::Goal::kMinimize : tuning::Goal::kMaximize;
  return {
      .study = {tuning::Space(std::move(parameters)), {goal}, AlgorithmOf(study)},
      .metric_tag = metric.id,
      .max_trials = job.max_trials,
      .max_parallel = job.max_parallel,
      .max_failed = job.max_failed,
      .failure_rule = {.first_failures = kFailedTrialsFirst, .majority_of = kFailedTrialsMajority},
      .final_report = study.measurement_selection == "BEST_MEASUREMENT" ? run::FinalReport::kBest
                                                                        : run::FinalReport::kLast,
      .stops_early = study.stops_by_median};
}

std::vector<std::string> TrialArguments(const tuning::Space& space,
                                        const tuning::ValueTexts& values) {
  std::vector<std::string> arguments;
  for (const tuning::Parameter& parameter : space.parameters()) {
    const auto value = values.find(parameter.name);
    if (value == values.end()) continue;
    arguments.push_back("--" + parameter.name);
    arguments.push_back(value->second);
  }
  return arguments;
}

}  // namespace caip::vertex
