#pragma once
// What the optimizer knows of a trial.

#include <cstdint>
#include <map>
#include <vector>

#include "tuning/space.h"

namespace caip::tuning {

enum class Goal { kMaximize, kMinimize };

/// How a trial ended.
struct Outcome {
  /// One for each metric of the study; empty: it ended without a measurement. NaN and infinities
  /// may be told; a value that is no number counts as infeasible.
  std::vector<double> objectives = {};
  /// The values cannot be used: it failed, or was said to be infeasible. They are not tried again.
  bool infeasible = false;
};

struct Trial {
  Point point;
  std::optional<Outcome> outcome = {};  // none: it is pending
};

/// By number, whatever the order in which they came: what is asked depends on the trials alone.
using Trials = std::map<int64_t, Trial>;

}  // namespace caip::tuning
