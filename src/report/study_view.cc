#include "report/study_view.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/json.h"
#include "base/text.h"
#include "base/time_text.h"
#include "ml/schema/job_json.h"
#include "report/errors.h"
#include "tuning/value.h"

namespace caip::report {
namespace {

constexpr size_t kTrialsForImportance = 5;
constexpr size_t kGroupsMax = 4;  // of numbers
constexpr size_t kTrialsOfAGroup =
    2;  // on average; with fewer, any group seems to explain its trials

double NumberOf(const Json& value) {
  if (value.is_number()) return value.get<double>();
  const std::string text = value.is_string() ? value.get<std::string>() : "";
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  return std::numeric_limits<double>::quiet_NaN();
}

std::vector<std::pair<int64_t, double>> CurveOf(const Json* reports) {
  std::vector<std::pair<int64_t, double>> curve;
  if (!reports || !reports->is_array()) return curve;
  for (const Json& report : *reports) {
    const Json* value = Member(report, "value");
    if (value) curve.emplace_back(IntOr(report, "step", 0), NumberOf(*value));
  }
  return curve;
}

std::optional<Instant> TimeOf(const Json& trial, const char* name) {
  return ParseRfc3339(StringOr(trial, name));
}

TrialView TrialOf(const Json& trial, const Json* measurements) {
  TrialView view;
  view.id = StringOr(trial, "trialId");
  view.state = StringOr(trial, "state");
  if (const Json* values = Member(trial, "hyperparameters"); values && values->is_object()) {
    for (const auto& [name, value] : values->items()) {
      if (value.is_string()) view.values[name] = value.get<std::string>();
    }
  }
  if (const Json* metric = Member(trial, "finalMetric")) {
    const Json* value = Member(*metric, "objectiveValue");
    view.final_metric = {IntOr(*metric, "trainingStep", 0), value ? NumberOf(*value) : 0};
  }
  const Json* stopped = Member(trial, "isTrialStoppedEarly");
  view.stopped_early = stopped && *stopped == true;
  view.start_time = TimeOf(trial, "startTime");
  view.end_time = TimeOf(trial, "endTime");
  view.curve = CurveOf(measurements ? Member(*measurements, view.id) : nullptr);
  return view;
}

ParameterView ParameterOf(const ml::ParameterSpec& spec) {
  ParameterView view;
  view.name = spec.parameter_name;
  view.kind = spec.type == "CATEGORICAL" ? ParameterKind::kTexts
              : spec.type == "DISCRETE"  ? ParameterKind::kNumbers
                                         : ParameterKind::kRange;
  view.scale = tuning::ParseScale(spec.scale_type);
  view.least = spec.min_value.value_or(0);
  view.most = spec.max_value.value_or(1);
  view.choices = spec.categorical_values;
  if (view.kind != ParameterKind::kNumbers) return view;
  view.choices.clear();
  for (double number : spec.discrete_values) view.choices.push_back(tuning::TextOf(number));
  return view;
}

// The succeeded trials whose metric is a finite number.
std::vector<const TrialView*> Judged(const StudyView& study) {
  std::vector<const TrialView*> judged;
  for (const TrialView& trial : study.trials) {
    if (trial.final_metric && std::isfinite(trial.final_metric->second)) judged.push_back(&trial);
  }
  return judged;
}

// Ranges with about the same number of trials, smaller numbers first. Equal numbers stay together.
std::vector<std::vector<double>> Parts(std::vector<std::pair<double, double>> by_number) {
  std::sort(by_number.begin(), by_number.end());
  const size_t all = by_number.size();
  const size_t count = std::min(kGroupsMax, std::max<size_t>(2, all / 3));
  std::vector<std::vector<double>> parts(count);
  size_t first = 0;  // of the equal ones
  for (size_t i = 0; i < all; ++i) {
    if (by_number[i].first != by_number[first].first) first = i;
    parts[first * count / all].push_back(by_number[i].second);
  }
  std::erase_if(parts, [](const auto& part) { return part.empty(); });
  return parts;
}

// Trials with similar values of a parameter: one group for each value, or for each range of
// numbers.
std::vector<std::vector<double>> Groups(const ParameterView& parameter,
                                        const std::vector<const TrialView*>& trials) {
  std::map<std::string, std::vector<double>> by_text;
  std::vector<std::pair<double, double>> by_number;
  for (const TrialView* trial : trials) {
    const auto value = trial->values.find(parameter.name);
    const std::string text = value == trial->values.end() ? "" : value->second;
    by_text[text].push_back(trial->final_metric->second);
    by_number.emplace_back(std::strtod(text.c_str(), nullptr), trial->final_metric->second);
  }
  const bool few = by_text.size() <= std::min(kGroupsMax, trials.size() / kTrialsOfAGroup);
  if (parameter.kind != ParameterKind::kTexts && !few) return Parts(std::move(by_number));
  std::vector<std::vector<double>> groups;
  for (auto& [text, values] : by_text) groups.push_back(std::move(values));
  return groups;
}

double Mean(const std::vector<double>& values) {
  double sum = 0;
  for (double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double EpsilonSquared(const std::vector<std::vector<double>>& groups, double mean, double total,
                      size_t trials) {
  double within = 0;
  for (const auto& group : groups) {
    const double own = Mean(group);
    for (double value : group) within += (value - own) * (value - own);
  }
  if (total <= 0 || trials <= groups.size() || !std::isfinite(mean)) return 0;
  const auto free = static_cast<double>(trials - groups.size());
  const auto all = static_cast<double>(trials - 1);
  return std::clamp(1 - (within / free) / (total / all), 0.0, 1.0);
}

}  // namespace

const TrialView* StudyView::Best() const {
  const TrialView* best = nullptr;
  for (const TrialView& trial : trials) {
    if (!trial.final_metric || std::isnan(trial.final_metric->second)) continue;
    if (!best || IsBetter(trial.final_metric->second, best->final_metric->second)) best = &trial;
  }
  return best;
}

Result<StudyView> ReadStudy(const Json& answer) {
  const Json* job_json = Member(answer, "job");
  if (!job_json) return errors::NoTuningJob("");
  ASSIGN_OR_RETURN(const ml::Job job, ml::FromStoredJson(*job_json));
  if (!job.training_input || !job.training_input->hyperparameters) {
    return errors::NoTuningJob(job.job_id);
  }
  const ml::HyperparameterSpec& spec = *job.training_input->hyperparameters;
  StudyView study;
  study.job_id = job.job_id;
  study.state = std::string(run::Name(job.state));
  study.metric = StringOr(answer, "metric");
  study.maximize = spec.goal != "MINIMIZE";
  study.max_trials = spec.max_trials.value_or(1);
  for (const ml::ParameterSpec& parameter : spec.params) {
    study.parameters.push_back(ParameterOf(parameter));
  }
  const Json* output = Member(*job_json, "trainingOutput");
  const Json* trials = output ? Member(*output, "trials") : nullptr;
  for (const Json& trial : trials ? *trials : Json::array()) {
    study.trials.push_back(TrialOf(trial, Member(answer, "measurements")));
  }
  std::sort(study.trials.begin(), study.trials.end(), [](const TrialView& a, const TrialView& b) {
    return std::pair(a.id.size(), a.id) < std::pair(b.id.size(), b.id);
  });
  return study;
}

std::vector<std::optional<double>> ImportanceOf(const StudyView& study) {
  const std::vector<const TrialView*> trials = Judged(study);
  std::vector<std::optional<double>> importance;
  if (trials.size() < kTrialsForImportance) return importance;
  std::vector<double> values;
  for (const TrialView* trial : trials) values.push_back(trial->final_metric->second);
  const double mean = Mean(values);
  double total = 0;
  for (double value : values) total += (value - mean) * (value - mean);
  for (const ParameterView& parameter : study.parameters) {
    const auto groups = Groups(parameter, trials);
    importance.emplace_back();
    if (trials.size() < kTrialsOfAGroup * groups.size()) continue;
    importance.back() = EpsilonSquared(groups, mean, total, trials.size());
  }
  return importance;
}

}  // namespace caip::report
