#pragma once
// The algorithms behind Optimizer, one function each.

#include <optional>

#include "base/random.h"
#include "tuning/optimizer.h"

namespace caip::tuning {

/// The first point, in the order of the parameters and their values, that no trial has; the last
/// parameter changes fastest. nullopt when all are taken. No DOUBLE.
std::optional<Point> NextOfGrid(const Space& space, const Trials& trials);

/// Any point, but none that was infeasible, unless a hundred draws find no other.
Point AnyPoint(const Space& space, const Trials& trials, Random& random);

/// Where the greatest improvement is to be expected of what the trials taught. Known points only
/// where there are no others.
Point PointOfGreatestPromise(const Study& study, const Trials& trials, int64_t number,
                             uint64_t seed);

/// True where a trial with these very values was infeasible.
bool WasInfeasible(const Trials& trials, const Point& point);

}  // namespace caip::tuning
