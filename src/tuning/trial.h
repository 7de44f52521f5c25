#pragma once
// The optimizer's view of a trial.

#include <cstdint>
#include <map>
#include <vector>

#include "tuning/space.h"

namespace caip::tuning {

enum class Goal { kMaximize, kMinimize };

/// How a trial ended.
struct Outcome {
  /// One for each metric of the study; empty: the trial ended without a measurement. NaN counts as
  /// infeasible; infinities are allowed.
  std::vector<double> objectives = {};
  /// The trial failed or was declared infeasible. Its values are not tried again.
  bool infeasible = false;
};

struct Trial {
  Point point;
  std::optional<Outcome> outcome = {};  // nullopt: pending
};

/// Trials by number: suggestions do not depend on the order in which trials were added.
using Trials = std::map<int64_t, Trial>;

// The best trials of a study with several metrics.

/// The indices of the points that no other point dominates, that is, equals or beats in all metrics
/// and beats in one. With one metric: the best, and those equal to it. Never a point with NaN. Each
/// point has a value for each of `goals`.
std::vector<size_t> ParetoSet(const std::vector<Goal>& goals,
                              const std::vector<std::vector<double>>& points);

}  // namespace caip::tuning
