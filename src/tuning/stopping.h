#pragma once
// Whether a trial that runs is worth going on with (docs/service/hyperparameter-tuning.md, section
// 6; REST reference, AutomatedStoppingConfig).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "tuning/trial.h"

namespace caip::tuning {

/// One measurement of a trial.
struct Report {
  int64_t step = 0;
  Duration elapsed = {};  // since the trial began
  double value = 0;
};

/// What a trial reported, in that order.
using Curve = std::vector<Report>;

/// What it was weighed by; `why` is a sentence for the log.
struct StopAdvice {
  bool stop = false;
  std::optional<double> value = {};  // of the trial: its best, or the expected final one
  std::optional<double> bar = {};    // the median of the others, or the best of them
  std::optional<int64_t> step = {};  // of the trial's last measurement
  std::string why;
};

/// What "up to the same point" goes by.
enum class Progress { kSteps, kElapsedTime };

/// The median rule: stops where the trial's best value so far is strictly worse than the median of
/// the completed trials' running averages up to the same point. NaN counts for nothing. Goes on
/// where there is nothing to compare.
StopAdvice AdviseByMedian(Goal goal, Progress progress, const Curve& pending,
                          const std::vector<Curve>& completed);

/// The decay-curve rule: stops where, by how completed trials went on from the same point, it is
/// very unlikely (1 in 100) that the trial ends better than the best of them. The service trains a
/// Gaussian process regressor; this is a linear one with normal errors, and wants five trials.
StopAdvice AdviseByDecayCurve(Goal goal, Progress progress, const Curve& pending,
                              const std::vector<Curve>& completed);

}  // namespace caip::tuning
