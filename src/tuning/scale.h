#pragma once
// The four scales of a numeric parameter (docs/service/hyperparameter-tuning.md, section 2).

#include <string_view>

namespace caip::tuning {

/// NONE is treated as linear. The logarithmic ones need a positive lower bound.
enum class Scale { kLinear, kLog, kReverseLog };

/// kLog for "UNIT_LOG_SCALE"; kLinear for "", "NONE", "SCALE_TYPE_UNSPECIFIED",
/// "UNIT_LINEAR_SCALE".
Scale ParseScale(std::string_view name);

/// Maps `x` from [least, most] to [0, 1]; 0.5 if the range is a point.
double ToUnit(Scale scale, double least, double most, double x);
/// The inverse. Never outside [least, most].
double FromUnit(Scale scale, double least, double most, double unit);

}  // namespace caip::tuning
