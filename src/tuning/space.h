#pragma once
// Where the parameters of trials lie: each one's set of values and scale, and which parameters
// there are only when another has certain values (docs/service/hyperparameter-tuning.md, section 2;
// docs/service/api.md, section 9).

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "tuning/scale.h"
#include "tuning/value.h"

namespace caip::tuning {

enum class ValueType { kDouble, kInteger, kDiscrete, kCategorical };

/// A discrete parameter has at most so many values.
inline constexpr size_t kDiscreteValuesMax = 1000;

/// The values of a trial as its trainer is given them, by parameter name.
using ValueTexts = std::map<std::string, std::string>;

/// The parameters that there are at one place, by name.
using Point = std::map<std::string, Value>;

/// One parameter. A plain value; its bounds are those that the type needs.
struct Parameter {
  std::string name;
  ValueType type = ValueType::kDouble;
  Scale scale = Scale::kLinear;
  double least = 0;  // kDouble
  double most = 0;
  int64_t least_integer = 0;  // kInteger
  int64_t most_integer = 0;
  std::vector<double> numbers = {};          // kDiscrete, increasing
  std::vector<std::string> categories = {};  // kCategorical

  // Of a conditional parameter: its place in Space::parameters, and the values that call for it.
  std::optional<size_t> parent = {};
  std::vector<Value> parent_values = {};

  bool Has(const Value& value) const;
  /// Any value, evenly in the scaled range; of a set, each as likely as the others.
  Value Draw(Random& random) const;
  /// The first value of the set and the one after `value`; nullopt behind the last and for kDouble.
  std::optional<Value> First() const;
  std::optional<Value> After(const Value& value) const;
  /// Where a number lies in [0, 1] by the scale. Not for kCategorical.
  double UnitOf(const Value& value) const;
  /// The number nearest to `unit`, within the set. Not for kCategorical.
  Value AtUnit(double unit) const;
  /// How many values there are; infinity for kDouble.
  double Count() const;
  /// The value that a trial's text says, if it is one of the set.
  std::optional<Value> Read(std::string_view text) const;
};

/// All parameters of a study, each behind its parent. Immutable; shared by any threads.
class Space {
 public:
  /// A parent comes before its children. `parameters` keep the rules of the API they come from.
  explicit Space(std::vector<Parameter> parameters) : parameters_(std::move(parameters)) {}

  const std::vector<Parameter>& parameters() const { return parameters_; }
  /// True where `point` is such that the parameter is asked for: its parent has a fitting value.
  bool IsActive(size_t parameter, const Point& point) const;
  /// Drops what is not called for, and draws what is missing.
  Point Completed(Point point, Random& random) const;
  Point Draw(Random& random) const { return Completed({}, random); }
  /// How many points there are; infinity with a DOUBLE.
  double Count() const;

  static ValueTexts Texts(const Point& point);
  /// The inverse of Texts: every parameter that is called for, with a value of its set, no others.
  Result<Point> Read(const ValueTexts& texts) const;

 private:
  double CountBelow(size_t parameter) const;

  std::vector<Parameter> parameters_;
};

}  // namespace caip::tuning
