#include "vertex/validate/validate_tuning.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "tuning/value.h"
#include "vertex/limits.h"
#include "vertex/validate/tuning_violations.h"
#include "vertex/validate/violations.h"

namespace caip::vertex {
namespace {

constexpr std::string_view kTrialSpecField = "trial_job_spec";
constexpr std::string_view kWhitespaceAndNul{" \t\n\v\f\r\0", 7};

std::string Indexed(std::string_view list, size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

std::string ConditionField(const std::string& parent_field, size_t index) {
  return parent_field + "." + Indexed("conditional_parameter_specs", index);
}

// Finds the broken rules of a study.
class StudyExamination {
 public:
  StudyExamination(const StudySpec& study, std::vector<FieldViolation>& found)
      : study_(study), found_(found) {}

  void Run() {
    ExamineMetrics();
    if (study_.parameters.empty()) Report("parameters", violations::Required());
    for (size_t i = 0; i < study_.parameters.size(); ++i) {
      ExamineParameter(study_.parameters[i], Indexed("parameters", i), nullptr);
    }
    if (count_ > kStudyParametersMax) {
      Report("parameters", violations::TooManyParameters(count_));
    }
  }

 private:
  void Report(const std::string& field, std::string description) {
    found_.push_back({"study_spec." + field, std::move(description)});
  }

  void ExamineId(const std::string& id, const std::string& field) {
    if (id.empty()) Report(field, violations::Required());
    if (id.find_first_of(kWhitespaceAndNul) != id.npos) Report(field, violations::IdMalformed(id));
  }

  void ExamineMetrics() {
    if (study_.metrics.empty()) Report("metrics", violations::Required());
    for (size_t i = 0; i < study_.metrics.size(); ++i) {
      const std::string at = Indexed("metrics", i);
      ExamineId(study_.metrics[i].id, at + ".metric_id");
      if (!study_.metrics[i].HasGoal()) Report(at + ".goal", violations::Required());
    }
  }

  void ExamineParameter(const StudyParameter& parameter, const std::string& at,
                        const StudyParameter* parent) {
    ++count_;
    ExamineId(parameter.id, at + ".parameter_id");
    ExamineUniqueness(parameter.id, at, parent);
    const auto type = parameter.Type();
    if (!type) {
      const bool has_any =
          parameter.doubles || parameter.integers || parameter.categories || parameter.numbers;
      Report(at, violations::ValueSpecs(has_any));
    } else {
      ExamineValues(parameter, at);
    }
    for (size_t i = 0; i < parameter.children.size(); ++i) {
      const StudyParameter& child = parameter.children[i];
      const std::string condition = ConditionField(at, i);
      if (type) ExamineCondition(child, parameter, condition);
      const std::string spec = condition + ".parameter_spec";
      if (child.has_spec) ExamineParameter(child, spec, &parameter);
      if (!child.has_spec) Report(spec, violations::Required());
    }
  }

  // Those of one parent may be alternatives, which FindUnservedTuning names.
  void ExamineUniqueness(const std::string& id, const std::string& at,
                         const StudyParameter* parent) {
    const auto [known, is_new] = parents_.emplace(id, parent);
    if (is_new || id.empty() || (parent != nullptr && known->second == parent)) return;
    Report(at + ".parameter_id", violations::ParameterIdTwice(id));
  }

  void ExamineValues(const StudyParameter& parameter, const std::string& at) {
    if (parameter.doubles) {
      ExamineRange(parameter, *parameter.doubles, at, "double_value_spec");
      if (study_.IsGrid()) {
        Report(at + ".double_value_spec", violations::GridWithDouble(parameter.id));
      }
    } else if (parameter.integers) {
      ExamineRange(parameter, *parameter.integers, at, "integer_value_spec");
    } else if (parameter.numbers) {
      ExamineNumbers(parameter, at);
    } else {
      ExamineCategories(parameter, at);
    }
  }

  void ExamineDefault(bool has_default, const std::string& field) {
    if (has_default) Report(field + ".default_value", violations::DefaultValue());
  }

  template <typename Number>
  void ExamineRange(const StudyParameter& parameter, const ValueRange<Number>& range,
                    const std::string& at, const char* spec) {
    const std::string field = at + "." + spec;
    ExamineDefault(range.has_default, field);
    if (!range.least && !range.most) {
      Report(field + ".min_value", violations::Required());
      Report(field + ".max_value", violations::Required());
      return;
    }
    const Number least = range.least.value_or(0);
    const Number most = range.most.value_or(0);
    const bool has_least = std::isfinite(static_cast<double>(least));
    const bool has_most = std::isfinite(static_cast<double>(most));
    if (!has_least) Report(field + ".min_value", violations::BoundNotFinite());
    if (!has_most) Report(field + ".max_value", violations::BoundNotFinite());
    if (has_least && has_most && least > most) {
      Report(field + ".max_value", violations::BoundsReversed(tuning::TextOf(tuning::Value(least)),
                                                              tuning::TextOf(tuning::Value(most))));
    }
    if (has_least) ExamineScale(parameter, static_cast<double>(least), at);
  }

  void ExamineScale(const StudyParameter& parameter, double least, const std::string& at) {
    if (!parameter.HasLogScale() || least > 0) return;
    Report(at + ".scale_type",
           violations::LogScaleNotPositive(parameter.scale, tuning::TextOf(least)));
  }

  void ExamineNumbers(const StudyParameter& parameter, const std::string& at) {
    const std::string field = at + ".discrete_value_spec";
    const std::vector<double>& values = parameter.numbers->values;
    ExamineDefault(parameter.numbers->has_default, field);
    if (values.empty()) return Report(field + ".values", violations::Required());
    if (values.size() > tuning::kDiscreteValuesMax) {
      Report(field + ".values",
             violations::TooManyValues(values.size(), tuning::kDiscreteValuesMax));
    }
    for (size_t i = 0; i < values.size(); ++i) {
      if (!std::isfinite(values[i])) {
        Report(field + ".values", violations::ValueNotFinite(i));
      } else if (i > 0 && values[i] - values[i - 1] < kDiscreteValueGapMin) {
        Report(field + ".values", violations::ValuesNotIncreasing(i));
      }
    }
    const double least = *std::min_element(values.begin(), values.end());
    if (std::isfinite(least)) ExamineScale(parameter, least, at);
  }

  void ExamineCategories(const StudyParameter& parameter, const std::string& at) {
    const std::string field = at + ".categorical_value_spec";
    const std::vector<std::string>& values = parameter.categories->values;
    ExamineDefault(parameter.categories->has_default, field);
    if (values.empty()) Report(field + ".values", violations::Required());
    if (values.size() > tuning::kCategoriesMax) {
      return Report(field + ".values",
                    violations::TooManyValues(values.size(), tuning::kCategoriesMax));
    }
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i].find('\0') == std::string::npos) continue;
      Report(field + "." + Indexed("values", i), violations::HoldsNul());
    }
    if (parameter.HasScale()) Report(at + ".scale_type", violations::ScaleOfCategories());
  }

  // The condition has the values of its parent's type, and the parent has each of them.
  void ExamineCondition(const StudyParameter& child, const StudyParameter& parent,
                        const std::string& at) {
    const tuning::ValueType type = *parent.Type();
    if (type == tuning::ValueType::kDouble) {
      return Report(at, violations::ConditionOnDouble(parent.id));
    }
    const std::string_view wanted = type == tuning::ValueType::kInteger ? "parent_int_values"
                                    : type == tuning::ValueType::kDiscrete
                                        ? "parent_discrete_values"
                                        : "parent_categorical_values";
    const auto examine = [&](std::string_view field, const auto& values) {
      if (field == wanted) {
        ExamineParentValues(values, parent, at + "." + std::string(field));
      } else if (values) {
        Report(at + "." + std::string(field), violations::ConditionOfOtherType(parent.id, wanted));
      }
    };
    examine("parent_discrete_values", child.parent_numbers);
    examine("parent_int_values", child.parent_integers);
    examine("parent_categorical_values", child.parent_categories);
  }

  template <typename Value>
  void ExamineParentValues(const std::optional<std::vector<Value>>& values,
                           const StudyParameter& parent, const std::string& field) {
    if (!values || values->empty()) return Report(field + ".values", violations::Required());
    if (values->size() > tuning::kCategoriesMax) {
      return Report(field + ".values",
                    violations::TooManyValues(values->size(), tuning::kCategoriesMax));
    }
    for (const Value& value : *values) {
      if (HasValue(parent, value)) continue;
      Report(field + ".values",
             violations::NotAValueOfParent(tuning::TextOf(tuning::Value(value)), parent.id));
    }
  }

  static bool HasValue(const StudyParameter& parent, int64_t value) {
    return parent.integers && value >= parent.integers->least.value_or(0) &&
           value <= parent.integers->most.value_or(0);
  }
  static bool HasValue(const StudyParameter& parent, double value) {
    return parent.numbers &&
           std::ranges::find(parent.numbers->values, value) != parent.numbers->values.end();
  }
  static bool HasValue(const StudyParameter& parent, const std::string& value) {
    return parent.categories &&
           std::ranges::find(parent.categories->values, value) != parent.categories->values.end();
  }

  const StudySpec& study_;
  std::vector<FieldViolation>& found_;
  std::map<std::string, const StudyParameter*> parents_;  // by the ids so far
  size_t count_ = 0;
};

void ExamineTrialCount(int64_t count, int64_t limit, const char* field,
                       std::vector<FieldViolation>& found) {
  if (count == 0) found.push_back({field, violations::Required()});
  if (count < 0) found.push_back({field, violations::TrialCountNegative(count)});
  if (count > limit) found.push_back({field, violations::TooManyTrials(count, limit)});
}

void ExamineTrialCounts(const TuningJob& job, std::vector<FieldViolation>& found) {
  ExamineTrialCount(job.max_trials, kTrialsMax, "max_trial_count", found);
  ExamineTrialCount(job.max_parallel, kParallelTrialsMax, "parallel_trial_count", found);
  const char* field = "max_failed_trial_count";
  if (job.max_failed < 0) {
    found.push_back({field, violations::TrialCountNegative(job.max_failed)});
  } else if (job.max_trials > 0 && job.max_failed > job.max_trials) {
    found.push_back({field, violations::FailedTrialsAboveAll(job.max_failed, job.max_trials)});
  }
}

std::vector<FieldViolation> FindTpus(const CustomJobSpec& spec) {
  std::vector<FieldViolation> found;
  for (size_t i = 0; i < spec.pools.size(); ++i) {
    const auto& machine = spec.pools[i].machine;
    if (!machine || !IsTpu(machine->accelerator_type)) continue;
    found.push_back({PoolField(i, "machine_spec.accelerator_type"),
                     violations::TrialsOnTpu(machine->accelerator_type)});
  }
  return found;
}

// Children of one parent that share an id are alternatives on the service.
void FindAlternatives(const StudyParameter& parameter, const std::string& at,
                      std::vector<FieldViolation>& unserved) {
  std::set<std::string> ids;
  for (size_t i = 0; i < parameter.children.size(); ++i) {
    const StudyParameter& child = parameter.children[i];
    const std::string spec = ConditionField(at, i) + ".parameter_spec";
    if (!child.id.empty() && !ids.insert(child.id).second) {
      unserved.push_back({spec + ".parameter_id", violations::AlternativeParameters(child.id)});
    }
    FindAlternatives(child, spec, unserved);
  }
}

void FindUnservedOfStudy(const StudySpec& study, std::vector<FieldViolation>& unserved) {
  const auto report = [&](const std::string& field, std::string description) {
    unserved.push_back({"study_spec." + field, std::move(description)});
  };
  if (study.metrics.size() > 1) {
    report("metrics", violations::SeveralMetrics(study.metrics.size()));
  }
  for (size_t i = 0; i < study.metrics.size(); ++i) {
    if (!study.metrics[i].has_safety_config) continue;
    report(Indexed("metrics", i) + ".safety_config", violations::NotServed("safetyConfig"));
  }
  for (size_t i = 0; i < study.parameters.size(); ++i) {
    FindAlternatives(study.parameters[i], "study_spec." + Indexed("parameters", i), unserved);
  }
  for (const std::string& field : study.unserved) report(field, violations::NotServed(field));
  if (study.median_uses_duration) {
    report("median_automated_stopping_spec.use_elapsed_duration", violations::ElapsedDuration());
  }
}

}  // namespace

std::vector<FieldViolation> ValidateTuning(const TuningJob& job, std::string_view location,
                                           const ValidationOptions& options) {
  std::vector<FieldViolation> found = Validate(job.trial, location, options);
  if (job.trial.spec) std::ranges::move(FindTpus(*job.trial.spec), std::back_inserter(found));
  found = WithSpecField(std::move(found), kTrialSpecField);
  if (job.study) {
    StudyExamination(*job.study, found).Run();
  } else {
    found.push_back({"study_spec", violations::Required()});
  }
  ExamineTrialCounts(job, found);
  return found;
}

std::vector<FieldViolation> FindUnservedTuning(const TuningJob& job,
                                               const ValidationOptions& options) {
  std::vector<FieldViolation> unserved =
      WithSpecField(FindUnserved(job.trial, options), kTrialSpecField);
  if (job.study) FindUnservedOfStudy(*job.study, unserved);
  return unserved;
}

Status CheckTuningJob(const TuningJob& job, std::string_view location,
                      const ValidationOptions& options) {
  RETURN_IF_ERROR(
      StatusOf(FindUnservedTuning(job, options), ValidateTuning(job, location, options)));
  return CheckResources(job.trial, options);
}

}  // namespace caip::vertex
