#pragma once
// Which trials are the best where several metrics count.

#include <vector>

#include "tuning/trial.h"

namespace caip::tuning {

/// The places, in `points`, of those that no other is better than: at least as good in all metrics
/// and better in one. With one metric: the best, and those that equal it. Points with NaN are none.
/// Each point has a value for each of `goals`.
std::vector<size_t> ParetoSet(const std::vector<Goal>& goals,
                              const std::vector<std::vector<double>>& points);

}  // namespace caip::tuning
