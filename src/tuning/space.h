#pragma once
// The parameters of a study: the values and the scale of each, and the parameters that are active
// only when another has certain values (docs/service/hyperparameter-tuning.md, section 2;
// docs/service/api.md, section 9).

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "tuning/value.h"

namespace caip::tuning {

enum class ValueType { kDouble, kInteger, kDiscrete, kCategorical };

/// The most values of a discrete parameter.
inline constexpr size_t kDiscreteValuesMax = 1000;
/// The most categories of a parameter, and the most values in the condition of a child (chosen: the
/// service states no limit).
inline constexpr size_t kCategoriesMax = 1000;

/// The values of a trial as its trainer gets them, by parameter name.
using ValueTexts = std::map<std::string, std::string>;

/// The values of the active parameters, by name.
using Point = std::map<std::string, Value>;

/// One parameter. Only the bounds of its type are set.
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

  // For a conditional parameter: the parent's index in Space::parameters, and the parent's values
  // that activate this one.
  std::optional<size_t> parent = {};
  std::vector<Value> parent_values = {};

  bool Has(const Value& value) const;
  /// A random value, uniform in the scaled range or in the set.
  Value Draw(Random& random) const;
  /// First() returns the first value of the set, After() the one after `value`. nullopt after the
  /// last, and for kDouble.
  std::optional<Value> First() const;
  std::optional<Value> After(const Value& value) const;
  /// The position of a number in [0, 1] by the scale. Not for kCategorical.
  double UnitOf(const Value& value) const;
  /// The number of the set that is nearest to the position `unit`. Not for kCategorical.
  Value AtUnit(double unit) const;
  /// The number of values; infinity for kDouble.
  double Count() const;
  /// The values of a kDiscrete or kCategorical, for many look-ups. Empty for the other types.
  std::set<Value> Listed() const;
  /// Reads a trial's text; nullopt if the set does not have the value.
  std::optional<Value> Read(std::string_view text) const;
};

/// The texts in their order, each once: a list of categories is a set, whatever it says.
std::vector<std::string> Distinct(const std::vector<std::string>& texts);

/// All parameters of a study, each after its parent. Immutable; any thread.
class Space {
 public:
  /// A parent precedes its children. `parameters` obey the rules of their API.
  explicit Space(std::vector<Parameter> parameters) : parameters_(std::move(parameters)) {}

  const std::vector<Parameter>& parameters() const { return parameters_; }
  /// True if the parameter is active in `point`: it has no parent, or the parent's value activates
  /// it.
  bool IsActive(size_t parameter, const Point& point) const;
  /// Removes inactive parameters and draws missing active ones.
  Point Completed(Point point, Random& random) const;
  Point Draw(Random& random) const { return Completed({}, random); }
  /// The number of points; infinity with a DOUBLE.
  double Count() const;

  static ValueTexts Texts(const Point& point);
  /// The inverse of Texts. Requires a valid value for each active parameter, and no others.
  Result<Point> Read(const ValueTexts& texts) const;

 private:
  double CountBelow(size_t parameter) const;

  std::vector<Parameter> parameters_;
};

}  // namespace caip::tuning
