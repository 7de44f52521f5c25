#pragma once
// Trials of the optimizer API as the optimizer sees them.

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "tuning/optimizer.h"
#include "tuning/stopping.h"
#include "tuning/study_config.h"

namespace caip::api {

/// Converts a point to a trial's parameters: floatValue, intValue or stringValue by its type.
Json ParametersOf(const tuning::Point& point);
/// The inverse; kInvalidArgument with all mistakes if the parameters are not a point of the space.
Result<tuning::Point> PointOf(const tuning::Space& space, const Json& trial);

/// Returns 7 for ".../trials/7".
int64_t NumberOf(const Json& trial);

/// Returns a measurement's value of each metric; empty if one is missing.
std::vector<double> ObjectivesOf(const tuning::StudyConfig& config, const Json& measurement);
/// Finds the last measurement of a trial that has all metrics; nullptr: none has them.
const Json* LastWholeMeasurement(const tuning::StudyConfig& config, const Json& trial);
/// The outcome of a COMPLETED trial.
tuning::Outcome OutcomeOf(const tuning::StudyConfig& config, const Json& trial);
/// Returns the measurements of the first metric.
tuning::Curve CurveOf(const tuning::StudyConfig& config, const Json& trial);
/// Makes an optimizer that has seen all `trials`.
tuning::Optimizer OptimizerOf(const tuning::StudyConfig& config, const std::vector<Json>& trials,
                              uint64_t seed);

/// Checks that a measurement's metrics are the study's (`all`: each of them), and that its step and
/// time are not negative. `field` is its path.
std::vector<FieldViolation> CheckMeasurement(const tuning::StudyConfig& config,
                                             const Json& measurement, const std::string& field,
                                             bool all);

}  // namespace caip::api
