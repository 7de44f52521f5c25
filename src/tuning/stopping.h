#pragma once
// Rules that stop a running trial early (docs/service/hyperparameter-tuning.md, section 6; REST
// reference, AutomatedStoppingConfig).

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

/// The measurements of a trial, in order.
using Curve = std::vector<Report>;

/// The advice and its reasons. `why` is a sentence for the log.
struct StopAdvice {
  bool stop = false;
  std::optional<double> value = {};  // the trial's best, or its expected final one
  std::optional<double> bar = {};    // the median of the others, or the best of them
  std::optional<int64_t> step = {};  // the step of the trial's last measurement
  std::string why;
};

/// The measure of "up to the same point".
enum class Progress { kSteps, kElapsedTime };

/// The median rule: stops if the trial's best value so far is strictly worse than the median of the
/// completed trials' running averages up to the same point. Ignores NaN. Continues if there is
/// nothing to compare.
StopAdvice AdviseByMedian(Goal goal, Progress progress, const Curve& pending,
                          const std::vector<Curve>& completed);

/// The decay-curve rule: predicts the trial's end from completed trials at the same point, and
/// stops if the chance to beat the best of them is below 1 in 100. The service trains a Gaussian
/// process regressor; this is a linear one with normal errors, and needs five trials.
StopAdvice AdviseByDecayCurve(Goal goal, Progress progress, const Curve& pending,
                              const std::vector<Curve>& completed);

}  // namespace caip::tuning
