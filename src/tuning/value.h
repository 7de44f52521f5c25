#pragma once
// One value of a hyperparameter, and the text a trial is given for it.

#include <cstdint>
#include <string>
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

}  // namespace caip::tuning
