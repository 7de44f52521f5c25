#include "migration/study.h"

#include <cstdint>
#include <string>

#include "base/json.h"
#include "ml/environment.h"

namespace caip::migration {
namespace {

Json BoundsOf(const ml::ParameterSpec& parameter) {
  const double least = parameter.min_value.value_or(0);
  const double most = parameter.max_value.value_or(0);
  if (parameter.type != "INTEGER") return {{"minValue", least}, {"maxValue", most}};
  return {{"minValue", static_cast<int64_t>(least)}, {"maxValue", static_cast<int64_t>(most)}};
}

Json ParameterOf(const ml::ParameterSpec& parameter) {
  Json made = {{"parameterId", parameter.parameter_name}};
  if (parameter.type == "CATEGORICAL") {
    made["categoricalValueSpec"] = {{"values", parameter.categorical_values}};
  } else if (parameter.type == "DISCRETE") {
    made["discreteValueSpec"] = {{"values", parameter.discrete_values}};
  } else {
    made[parameter.type == "INTEGER" ? "integerValueSpec" : "doubleValueSpec"] =
        BoundsOf(parameter);
  }
  // The scales of both services have the same names; NONE is the absence of one.
  const std::string& scale = parameter.scale_type;
  if (!scale.empty() && scale != "NONE") made["scaleType"] = scale;
  return made;
}

Json MetricOf(const ml::HyperparameterSpec& spec, Findings& findings) {
  std::string tag = spec.hyperparameter_metric_tag;
  if (tag.empty()) {
    tag = std::string(ml::kDefaultMetricTag);
    findings.Note("default_metric", {{"metric", tag}});
  }
  const bool has_goal = spec.goal == "MAXIMIZE" || spec.goal == "MINIMIZE";
  if (!has_goal) findings.Note("default_goal");
  return {{"metricId", tag}, {"goal", has_goal ? spec.goal : "MAXIMIZE"}};
}

}  // namespace

Json MakeStudy(const ml::HyperparameterSpec& spec, Findings& findings) {
  Json study = Json::object();
  study["metrics"] = Json::array({MetricOf(spec, findings)});
  study["parameters"] = Json::array();
  for (const ml::ParameterSpec& parameter : spec.params) {
    study["parameters"].push_back(ParameterOf(parameter));
  }
  if (!spec.algorithm.empty() && spec.algorithm != "ALGORITHM_UNSPECIFIED") {
    study["algorithm"] = spec.algorithm;
  }
  if (spec.enable_trial_early_stopping) {
    study["medianAutomatedStoppingSpec"] = Json::object();
  }
  return study;
}

}  // namespace caip::migration
