#pragma once
// The best trials of a study with several metrics.

#include <vector>

#include "tuning/trial.h"

namespace caip::tuning {

/// The indices of the points that no other point dominates, that is, equals or beats in all metrics
/// and beats in one. With one metric: the best, and those equal to it. Never a point with NaN. Each
/// point has a value for each of `goals`.
std::vector<size_t> ParetoSet(const std::vector<Goal>& goals,
                              const std::vector<std::vector<double>>& points);

}  // namespace caip::tuning
