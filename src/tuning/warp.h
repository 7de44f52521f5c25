#pragma once
// Transforms objectives so that a model can learn them: less is better, no outliers, around 0.

#include <vector>

#include "base/random.h"
#include "tuning/trial.h"

namespace caip::tuning {

/// Outliers in the bad half would hide the differences in the good half. So the bad half keeps only
/// its order, and the rest is transformed by the power that makes it most like a normal
/// distribution, to mean 0 and deviation 1. Infinities count as worst and best. Keeps the order. No
/// value may be NaN.
std::vector<double> WarpObjectives(const std::vector<double>& values);

/// Combines several metrics into one with random weights: each draw leads to another part of the
/// Pareto set. `values` are transformed by WarpObjectives, one row for each metric.
std::vector<double> Scalarize(const std::vector<std::vector<double>>& values, Random& random);

}  // namespace caip::tuning
