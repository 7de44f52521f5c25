// Hyperparameter tuning.

#include <algorithm>
#include <cmath>
#include <set>

#include "ml/job_id.h"
#include "ml/limits.h"
#include "ml/validate/validate_parts.h"
#include "ml/validate/violations.h"
#include "tuning/space.h"

namespace caip::ml {
namespace {

constexpr std::string_view kDouble = "DOUBLE";
constexpr std::string_view kInteger = "INTEGER";
constexpr std::string_view kCategorical = "CATEGORICAL";
constexpr std::string_view kDiscrete = "DISCRETE";

bool IsFlagName(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return IsAsciiLetter(c) || IsAsciiDigit(c) || c == '-' || c == '_';
  });
}

// A log scale, which has no place for zero.
bool IsLogScale(std::string_view scale) {
  return scale == "UNIT_LOG_SCALE" || scale == "UNIT_REVERSE_LOG_SCALE";
}

bool IsInteger(double number) {
  return std::nearbyint(number) == number && std::fabs(number) < 0x1p63;
}

// One parameter, with what is needed to report about it.
struct Parameter {
  const Examination& exam;
  const ParameterSpec& spec;
  size_t index;

  void Forbid(bool is_set, std::string_view field) const {
    if (is_set) exam.Report(violations::NotForType(index, field, spec.type));
  }
};

void ExamineScale(const Parameter& parameter, double least) {
  if (IsLogScale(parameter.spec.scale_type) && !(least > 0)) {
    parameter.exam.Report(
        violations::LogScaleNotPositive(parameter.index, parameter.spec.scale_type, least));
  }
}

// True where the bound can be compared.
bool ExamineBound(const Parameter& parameter, std::string_view name, double bound) {
  const Examination& exam = parameter.exam;
  if (!std::isfinite(bound)) {
    exam.Report(violations::BoundNotFinite(parameter.index, name));
    return false;
  }
  if (parameter.spec.type == kInteger && !IsInteger(bound)) {
    exam.Report(violations::BoundNotIntegral(parameter.index, name, bound));
  }
  return true;
}

// One missing bound is 0: JSON drops zeros (docs/service/hyperparameter-tuning.md, section 8).
void ExamineBounds(const Parameter& parameter) {
  const ParameterSpec& spec = parameter.spec;
  if (!spec.min_value && !spec.max_value) {
    return parameter.exam.Report(violations::BoundsMissing(parameter.index, spec.type));
  }
  const double least = spec.min_value.value_or(0);
  const double most = spec.max_value.value_or(0);
  const bool has_least = ExamineBound(parameter, "min_value", least);
  const bool has_most = ExamineBound(parameter, "max_value", most);
  if (has_least && has_most && least > most) {
    parameter.exam.Report(
        violations::BoundsReversed(parameter.index, least, most, !spec.max_value.has_value()));
  }
  if (has_least) ExamineScale(parameter, least);
}

void ExamineRange(const Parameter& parameter) {
  const ParameterSpec& spec = parameter.spec;
  ExamineBounds(parameter);
  parameter.Forbid(!spec.discrete_values.empty(), "discrete_values");
  parameter.Forbid(!spec.categorical_values.empty(), "categorical_values");
}

void ExamineCategories(const Parameter& parameter) {
  const ParameterSpec& spec = parameter.spec;
  if (spec.categorical_values.empty()) {
    parameter.exam.Report(
        violations::ValuesMissing(parameter.index, "categorical_values", spec.type));
  }
  if (spec.categorical_values.size() > tuning::kCategoriesMax) {
    parameter.exam.Report(violations::TooManyValues(parameter.index, "categorical_values",
                                                    spec.categorical_values.size(),
                                                    tuning::kCategoriesMax));
    return;
  }
  for (const std::string& value : spec.categorical_values) {
    if (value.find('\0') == std::string::npos) continue;
    parameter.exam.Report(violations::HoldsNul(
        "hyperparameters.params[" + std::to_string(parameter.index) + "].categorical_values"));
  }
  parameter.Forbid(spec.min_value.has_value(), "min_value");
  parameter.Forbid(spec.max_value.has_value(), "max_value");
  parameter.Forbid(!spec.scale_type.empty() && spec.scale_type != "NONE", "scale_type");
  parameter.Forbid(!spec.discrete_values.empty(), "discrete_values");
}

// The bounds of a discrete parameter are ignored, as documented.
void ExamineValues(const Parameter& parameter) {
  const ParameterSpec& spec = parameter.spec;
  const std::vector<double>& values = spec.discrete_values;
  parameter.Forbid(!spec.categorical_values.empty(), "categorical_values");
  if (values.empty()) {
    parameter.exam.Report(violations::ValuesMissing(parameter.index, "discrete_values", spec.type));
    return;
  }
  if (values.size() > tuning::kDiscreteValuesMax) {
    parameter.exam.Report(violations::TooManyValues(parameter.index, "discrete_values",
                                                    values.size(), tuning::kDiscreteValuesMax));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      parameter.exam.Report(violations::ValueNotFinite(parameter.index, i));
    } else if (i > 0 && values[i] <= values[i - 1]) {
      parameter.exam.Report(violations::ValuesNotIncreasing(parameter.index, i));
    }
  }
  const double least = *std::min_element(values.begin(), values.end());
  if (std::isfinite(least)) ExamineScale(parameter, least);
}

void ExamineParameter(const Parameter& parameter) {
  const ParameterSpec& spec = parameter.spec;
  if (!IsFlagName(spec.parameter_name)) {
    parameter.exam.Report(violations::ParameterNameIllegal(parameter.index, spec.parameter_name));
  }
  if (spec.type == kDouble || spec.type == kInteger) {
    ExamineRange(parameter);
  } else if (spec.type == kCategorical) {
    ExamineCategories(parameter);
  } else if (spec.type == kDiscrete) {
    ExamineValues(parameter);
  } else {
    parameter.exam.Report(violations::ParameterTypeMissing(parameter.index));
  }
}

void ExamineTrialCounts(const Examination& exam, const HyperparameterSpec& spec) {
  const int32_t trials = spec.max_trials.value_or(1);
  const int32_t parallel = spec.max_parallel_trials.value_or(1);
  if (trials < 1) exam.Report(violations::TrialsNotPositive("max_trials", trials));
  if (parallel < 1) exam.Report(violations::TrialsNotPositive("max_parallel_trials", parallel));
  if (parallel > kParallelTrialsMax) {
    exam.Report(violations::TooManyParallelTrials(parallel, kParallelTrialsMax));
  }
  if (spec.max_failed_trials < 0) {
    exam.Report(violations::TrialsNegative(spec.max_failed_trials));
  }
}

}  // namespace

void ExamineTuning(const Examination& exam) {
  if (!exam.input.hyperparameters) return;
  const HyperparameterSpec& spec = *exam.input.hyperparameters;
  if (spec.params.empty()) exam.Report(violations::ParametersMissing());
  std::set<std::string> names;
  for (size_t i = 0; i < spec.params.size(); ++i) {
    const ParameterSpec& parameter = spec.params[i];
    ExamineParameter({exam, parameter, i});
    if (!parameter.parameter_name.empty() && !names.insert(parameter.parameter_name).second) {
      exam.Report(violations::ParameterNameTwice(i, parameter.parameter_name));
    }
    if (spec.algorithm == "GRID_SEARCH" && parameter.type == kDouble) {
      exam.Report(violations::GridWithDouble(i, parameter.parameter_name));
    }
  }
  ExamineTrialCounts(exam, spec);
  if (spec.hyperparameter_metric_tag.find('\0') != std::string::npos) {
    exam.Report(violations::HoldsNul("hyperparameters.hyperparameter_metric_tag"));
  }
  if (!spec.resume_previous_job_id.empty() && !IsJobId(spec.resume_previous_job_id)) {
    exam.Report(violations::ResumedIdMalformed(spec.resume_previous_job_id));
  }
  if (spec.algorithm == "POPULATION_BASED_TRAINING") {
    exam.Report(violations::AlgorithmNotEmulated(spec.algorithm));
  }
}

}  // namespace caip::ml
