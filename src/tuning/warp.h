#pragma once
// Objectives as a model can learn them: less is better, no outliers, around 0.

#include <vector>

#include "base/random.h"
#include "tuning/trial.h"

namespace caip::tuning {

/// Orders of magnitude and outliers among the bad half would hide how the good half differs. So the
/// bad half keeps only its order, and the rest is brought by a power, the one that makes it most
/// like a normal distribution, to mean 0 and deviation 1. Infinities are taken as worst and best.
/// Keeps the order. All values are told apart from NaN before.
std::vector<double> Warped(const std::vector<double>& values);

/// Several metrics as one by weights drawn at random: each draw leads to another part of the Pareto
/// set. `values` are warped, a row for each metric.
std::vector<double> Scalarized(const std::vector<std::vector<double>>& values, Random& random);

}  // namespace caip::tuning
