#pragma once
// One value of a hyperparameter, and the text that a trial gets for it.

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace caip::tuning {

/// DOUBLE and DISCRETE: double. INTEGER: int64_t. CATEGORICAL: std::string.
using Value = std::variant<double, int64_t, std::string>;

/// The text that the service writes into arguments and trialOutput: 15 significant digits if they
/// are exact, else 17; whole numbers without a fraction. "0.05", "0.072136064767837529",
/// "256" (docs/service/hyperparameter-tuning.md, section 2; the samples there rule out the shortest
/// text).
std::string TextOf(double number);
std::string TextOf(const Value& value);

// The four scales of a numeric parameter (docs/service/hyperparameter-tuning.md, section 2).

/// NONE is treated as linear. The logarithmic ones need a positive lower bound.
enum class Scale { kLinear, kLog, kReverseLog };

/// kLog for "UNIT_LOG_SCALE", kReverseLog for "UNIT_REVERSE_LOG_SCALE", kLinear for "" and any
/// other name.
Scale ParseScale(std::string_view name);

/// Maps `x` from [least, most] to [0, 1]; 0.5 if the range is a point.
double ToUnit(Scale scale, double least, double most, double x);
/// The inverse. Never outside [least, most].
double FromUnit(Scale scale, double least, double most, double unit);

}  // namespace caip::tuning
