#include "emulator/api/optimizer/study_trials.h"

#include <algorithm>

#include "emulator/api/errors.h"
#include "google/errors.h"
#include "ml/errors.h"

namespace caip::api {
namespace {

const Json& ListIn(const Json& message, std::string_view name) {
  static const Json kNone = Json::array();
  const Json* list = Member(message, name);
  return list ? *list : kNone;
}

const Json* MetricIn(const Json& measurement, const std::string& name) {
  const Json* found = nullptr;  // the last of that name, as in a map
  for (const Json& metric : ListIn(measurement, "metrics")) {
    if (StringOr(metric, "metric") == name) found = &metric;
  }
  return found;
}

// A missing value is the default: {"metric": "loss"} is a loss of 0.
double NumberIn(const Json& message) { return message.value("value", 0.0); }

std::string TextIn(const Json& parameter) {
  if (const Json* number = Member(parameter, "float_value")) {
    return tuning::TextOf(number->get<double>());
  }
  if (const Json* integer = Member(parameter, "int_value")) {
    return std::to_string(integer->get<int64_t>());
  }
  return StringOr(parameter, "string_value");
}

size_t CountOfValues(const Json& parameter) {
  return parameter.count("float_value") + parameter.count("int_value") +
         parameter.count("string_value");
}

tuning::ValueTexts TextsOf(const Json& trial, std::vector<FieldViolation>& violations) {
  tuning::ValueTexts texts;
  const Json& parameters = ListIn(trial, "parameters");
  for (size_t i = 0; i < parameters.size(); ++i) {
    const std::string at = "trial.parameters[" + std::to_string(i) + "]";
    const std::string name = StringOr(parameters[i], "parameter");
    if (CountOfValues(parameters[i]) > 1) {
      violations.push_back(errors::ParameterHasTwoValues(at, name));
    }
    if (!texts.emplace(name, TextIn(parameters[i])).second) {
      violations.push_back(errors::ParameterTwice(at, name));
    }
  }
  return texts;
}

}  // namespace

Json ParametersOf(const tuning::Point& point) {
  Json parameters = Json::array();
  for (const auto& [name, value] : point) {
    Json parameter = {{"parameter", name}};
    if (const auto* number = std::get_if<double>(&value)) parameter["float_value"] = *number;
    if (const auto* integer = std::get_if<int64_t>(&value)) parameter["int_value"] = *integer;
    if (const auto* text = std::get_if<std::string>(&value)) parameter["string_value"] = *text;
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

Result<tuning::Point> PointOf(const tuning::Space& space, const Json& trial) {
  std::vector<FieldViolation> violations;
  auto point = space.Read(TextsOf(trial, violations));
  if (!point.ok()) {
    const auto more = errors::TrialParametersIllegal(point.error());
    violations.insert(violations.end(), more.begin(), more.end());
  }
  if (!violations.empty()) return google::errors::Violations(std::move(violations));
  return point;
}

int64_t NumberOf(const Json& trial) {
  const std::string name = StringOr(trial, "name");
  return std::stoll(name.substr(name.rfind('/') + 1));
}

std::vector<double> ObjectivesOf(const tuning::StudyConfig& config, const Json& measurement) {
  std::vector<double> objectives;
  for (const std::string& name : config.metrics) {
    const Json* metric = MetricIn(measurement, name);
    if (!metric) return {};
    objectives.push_back(NumberIn(*metric));
  }
  return objectives;
}

const Json* LastWholeMeasurement(const tuning::StudyConfig& config, const Json& trial) {
  const Json* last = nullptr;
  for (const Json& measurement : ListIn(trial, "measurements")) {
    if (!ObjectivesOf(config, measurement).empty()) last = &measurement;
  }
  return last;
}

tuning::Outcome OutcomeOf(const tuning::StudyConfig& config, const Json& trial) {
  if (trial.value("trial_infeasible", false)) return {{}, true};
  const Json* measurement = Member(trial, "final_measurement");
  if (!measurement) return {};
  return {ObjectivesOf(config, *measurement), false};
}

tuning::Curve CurveOf(const tuning::StudyConfig& config, const Json& trial) {
  tuning::Curve curve;
  for (const Json& measurement : ListIn(trial, "measurements")) {
    const Json* metric = MetricIn(measurement, config.metrics.front());
    if (!metric) continue;
    curve.push_back({measurement.value("step_count", int64_t{0}),
                     Duration(measurement.value("elapsed_time", int64_t{0})), NumberIn(*metric)});
  }
  return curve;
}

tuning::Optimizer OptimizerOf(const tuning::StudyConfig& config, const std::vector<Json>& trials,
                              uint64_t seed) {
  tuning::Optimizer optimizer(config.study, seed);
  for (const Json& trial : trials) {
    const auto point = PointOf(config.study.space, trial);
    if (!point.ok()) continue;  // cannot happen: the study's config never changes
    optimizer.Add(NumberOf(trial), *point);
    if (StringOr(trial, "state") == "COMPLETED") {
      optimizer.Tell(NumberOf(trial), OutcomeOf(config, trial));
    }
  }
  return optimizer;
}

std::vector<FieldViolation> CheckMeasurement(const tuning::StudyConfig& config,
                                             const Json& measurement, const std::string& field,
                                             bool all) {
  std::vector<FieldViolation> violations;
  const size_t count = ListIn(measurement, "metrics").size();
  if (count > tuning::kMetricsMax) {
    return {errors::TooManyMetrics(field + ".metrics", count, tuning::kMetricsMax)};
  }
  for (const Json& metric : ListIn(measurement, "metrics")) {
    const std::string name = StringOr(metric, "metric");
    const auto& known = config.metrics;
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      violations.push_back(errors::MetricUnknown(field + ".metrics", name));
    }
  }
  for (const std::string& name : config.metrics) {
    if (!all || MetricIn(measurement, name)) continue;
    violations.push_back(errors::MetricMissing(field + ".metrics", name));
  }
  for (const char* progress : {"step_count", "elapsed_time"}) {
    if (IntOr(measurement, progress, 0) >= 0) continue;
    violations.push_back(errors::NegativeProgress(field + "." + progress));
  }
  return violations;
}

}  // namespace caip::api
