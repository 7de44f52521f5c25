#include "tuning/study_config.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/json.h"
#include "google/errors.h"
#include "tuning/errors.h"

namespace caip::tuning {
namespace {

const Json& ListOf(const Json& message, std::string_view name) {
  static const Json kNone = Json::array();
  const Json* list = Member(message, name);
  return list ? *list : kNone;
}

struct ValueField {
  std::string_view type;
  std::string_view spec;    // the member that defines the values
  std::string_view parent;  // the member of a child that lists the parent's values; "" for none
};
constexpr ValueField kValueFields[] = {
    {"DOUBLE", "double_value_spec", ""},
    {"INTEGER", "integer_value_spec", "parent_int_values"},
    {"CATEGORICAL", "categorical_value_spec", "parent_categorical_values"},
    {"DISCRETE", "discrete_value_spec", "parent_discrete_values"},
};
constexpr ValueType kValueTypes[] = {ValueType::kDouble, ValueType::kInteger,
                                     ValueType::kCategorical, ValueType::kDiscrete};

// The service states no limits. Parameters count with those of conditions.
constexpr size_t kParametersMax = 1000;

// Reads a config and collects all violations.
class StudyConfigReader {
 public:
  Result<StudyConfig> Read(const Json& plain) {
    ReadMetrics(ListOf(plain, "metrics"));
    ReadAlgorithm(StringOr(plain, "algorithm"));
    const Json& parameters = ListOf(plain, "parameters");
    if (parameters.empty()) Report("parameters", texts::NeedsOne("parameter"));
    for (size_t i = 0; i < parameters.size(); ++i) {
      ReadParameter(parameters[i], "parameters[" + std::to_string(i) + "]", std::nullopt);
    }
    if (parameters_.size() > kParametersMax) {
      Report("parameters", texts::TooManyParameters(parameters_.size(), kParametersMax));
    }
    ReadStopping(plain);
    if (!violations_.empty()) return google::errors::Violations(std::move(violations_));
    config_.study.space = Space(std::move(parameters_));
    return std::move(config_);
  }

 private:
  void Report(const std::string& field, std::string description) {
    violations_.push_back({"study.study_config." + field, std::move(description)});
  }

  void ReadMetrics(const Json& metrics) {
    if (metrics.empty()) Report("metrics", texts::NeedsOne("metric"));
    if (metrics.size() > kMetricsMax) {
      return Report("metrics", texts::TooManyMetrics(metrics.size(), kMetricsMax));
    }
    for (size_t i = 0; i < metrics.size(); ++i) {
      const std::string at = "metrics[" + std::to_string(i) + "]";
      const std::string name = StringOr(metrics[i], "metric");
      const std::string goal = StringOr(metrics[i], "goal");
      const auto& known = config_.metrics;
      if (name.empty()) Report(at + ".metric", texts::Required());
      if (std::find(known.begin(), known.end(), name) != known.end()) {
        Report(at + ".metric", texts::NameTwice(name));
      }
      if (goal != "MAXIMIZE" && goal != "MINIMIZE") Report(at + ".goal", texts::GoalMissing());
      config_.metrics.push_back(name);
      config_.study.goals.push_back(goal == "MINIMIZE" ? Goal::kMinimize : Goal::kMaximize);
    }
  }

  void ReadAlgorithm(const std::string& name) {
    config_.study.algorithm = name == "GRID_SEARCH"     ? Algorithm::kGrid
                              : name == "RANDOM_SEARCH" ? Algorithm::kRandom
                                                        : Algorithm::kBayesian;
  }

  void ReadStopping(const Json& plain) {
    const Json* stopping = Member(plain, "automated_stopping_config");
    if (!stopping) return;
    const Json* median = Member(*stopping, "median_automated_stopping_config");
    const Json* decay = Member(*stopping, "decay_curve_stopping_config");
    if (median && decay) Report("automated_stopping_config", texts::OneStoppingRule());
    if (median) config_.stopping = StoppingRule::kMedian;
    if (decay) config_.stopping = StoppingRule::kDecayCurve;
    const Json* rule = median ? median : decay;
    if (rule && rule->value("use_elapsed_time", false)) config_.progress = Progress::kElapsedTime;
  }

  void ReadParameter(const Json& plain, const std::string& at, std::optional<size_t> parent) {
    Parameter parameter;
    parameter.name = StringOr(plain, "parameter");
    if (parameter.name.empty()) Report(at + ".parameter", texts::Required());
    if (!parameter.name.empty() && !names_.insert(parameter.name).second) {
      Report(at + ".parameter", texts::NameTwice(parameter.name));
    }
    parameter.parent = parent;
    ReadParentValues(plain, at, parameter);
    const std::string type = StringOr(plain, "type");
    const auto* field = std::find_if(std::begin(kValueFields), std::end(kValueFields),
                                     [&](const ValueField& each) { return each.type == type; });
    if (field == std::end(kValueFields)) {
      Report(at + ".type", texts::TypeMissing());
      return;
    }
    parameter.type = kValueTypes[field - std::begin(kValueFields)];
    parameter.scale = ParseScale(StringOr(plain, "scale_type"));
    ReadValues(plain, at, *field, parameter);
    const size_t own = parameters_.size();
    parameters_.push_back(std::move(parameter));
    const Json& children = ListOf(plain, "child_parameter_specs");
    for (size_t i = 0; i < children.size(); ++i) {
      ReadParameter(children[i], at + ".child_parameter_specs[" + std::to_string(i) + "]", own);
    }
  }

  void ReadParentValues(const Json& plain, const std::string& at, Parameter& parameter) {
    std::string_view wanted;
    if (parameter.parent) {
      const ValueType type = parameters_[*parameter.parent].type;
      const auto* found = std::find(std::begin(kValueTypes), std::end(kValueTypes), type);
      wanted = kValueFields[found - std::begin(kValueTypes)].parent;
      if (wanted.empty()) Report(at, texts::NoChildrenOfDouble());
    }
    for (const ValueField& field : kValueFields) {
      if (field.parent.empty() || field.parent == wanted || !Member(plain, field.parent)) continue;
      Report(at + "." + std::string(field.parent), texts::NotTheParents());
    }
    if (wanted.empty()) return;
    const std::string path = at + "." + std::string(wanted);
    const Json* values = Member(plain, wanted);
    if (!values || ListOf(*values, "values").empty()) return Report(path, texts::Required());
    const size_t count = ListOf(*values, "values").size();
    if (count > kCategoriesMax) {
      return Report(path + ".values", texts::TooManyValues(count, kCategoriesMax));
    }
    for (const Json& value : ListOf(*values, "values")) {
      parameter.parent_values.push_back(ValueOf(value, parameters_[*parameter.parent].type));
      if (!parameters_[*parameter.parent].Has(parameter.parent_values.back())) {
        Report(path + ".values", texts::NoneOfTheParents(CompactJson(value)));
      }
    }
  }

  static Value ValueOf(const Json& value, ValueType type) {
    if (type == ValueType::kInteger) return value.get<int64_t>();
    if (type == ValueType::kCategorical) return value.get<std::string>();
    return value.get<double>();
  }

  void ReadValues(const Json& plain, const std::string& at, const ValueField& field,
                  Parameter& parameter) {
    for (const ValueField& other : kValueFields) {
      if (other.spec == field.spec || !Member(plain, other.spec)) continue;
      Report(at + "." + std::string(other.spec), texts::NotForType(field.type));
    }
    const std::string path = at + "." + std::string(field.spec);
    const Json* values = Member(plain, field.spec);
    if (!values) return Report(path, texts::Required());
    if (parameter.type == ValueType::kDouble || parameter.type == ValueType::kInteger) {
      ReadRange(*values, path, parameter);
    } else {
      ReadSet(*values, path, parameter);
    }
    if (parameter.type == ValueType::kCategorical && parameter.scale != Scale::kLinear) {
      Report(at + ".scale_type", texts::NotForType(field.type));
    }
    if (parameter.type == ValueType::kDouble && config_.study.algorithm == Algorithm::kGrid) {
      Report(at + ".type", texts::NoGridOfDoubles());
    }
  }

  void ReadRange(const Json& range, const std::string& path, Parameter& parameter) {
    double least = 0;
    double most = 0;
    if (parameter.type == ValueType::kDouble) {
      least = parameter.least = range.value("min_value", 0.0);
      most = parameter.most = range.value("max_value", 0.0);
    } else {
      parameter.least_integer = range.value("min_value", int64_t{0});
      parameter.most_integer = range.value("max_value", int64_t{0});
      least = static_cast<double>(parameter.least_integer);
      most = static_cast<double>(parameter.most_integer);
    }
    if (!std::isfinite(least) || !std::isfinite(most)) {
      Report(path, texts::NotFinite());
    } else if (least > most || parameter.least_integer > parameter.most_integer) {
      Report(path, texts::BoundsReversed());
    }
    CheckScale(path, parameter, least);
  }

  void CheckScale(const std::string& path, const Parameter& parameter, double least) {
    if (parameter.scale != Scale::kLinear && !(least > 0)) Report(path, texts::LogOfNothing());
  }

  void ReadSet(const Json& set, const std::string& path, Parameter& parameter) {
    const Json& values = ListOf(set, "values");
    if (values.empty()) return Report(path + ".values", texts::NeedsOne("value"));
    if (parameter.type == ValueType::kCategorical) {
      if (values.size() > kCategoriesMax) {
        return Report(path + ".values", texts::TooManyValues(values.size(), kCategoriesMax));
      }
      for (const Json& value : values) parameter.categories.push_back(value.get<std::string>());
      const std::set<std::string> distinct(parameter.categories.begin(),
                                           parameter.categories.end());
      if (distinct.size() < values.size()) Report(path + ".values", texts::ValueTwice());
      return;
    }
    for (const Json& value : values) parameter.numbers.push_back(value.get<double>());
    const auto& numbers = parameter.numbers;
    const bool finite =
        std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::isfinite(x); });
    const auto not_less = [](double a, double b) { return a >= b; };
    if (!finite) {
      Report(path + ".values", texts::NotFinite());
    } else if (std::adjacent_find(numbers.begin(), numbers.end(), not_less) != numbers.end() ||
               numbers.size() > kDiscreteValuesMax) {
      Report(path + ".values", texts::NotIncreasing(kDiscreteValuesMax));
    }
    CheckScale(path, parameter, numbers.front());
  }

  StudyConfig config_{{Space(std::vector<Parameter>{}), {}, Algorithm::kBayesian}, {}};
  std::vector<Parameter> parameters_;
  std::set<std::string> names_;
  std::vector<FieldViolation> violations_;
};

}  // namespace

Result<StudyConfig> ReadStudyConfig(const Json& plain) { return StudyConfigReader().Read(plain); }

}  // namespace caip::tuning
