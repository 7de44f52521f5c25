#pragma once
// The algorithms of Optimizer, one function each.

#include <optional>

#include "base/random.h"
#include "tuning/optimizer.h"

namespace caip::tuning {

/// The first point, in the order of the parameters and their values, that no trial has. The last
/// parameter changes fastest. nullopt: trials have all points. The space has no DOUBLE.
std::optional<Point> SuggestFromGrid(const Space& space, const Trials& trials);

/// A random point. Avoids infeasible points, unless a hundred draws find no other.
Point SuggestAtRandom(const Space& space, const Trials& trials, Random& random);

/// The point with the greatest expected improvement, by what the trials show. Returns a known point
/// only if there are no others.
Point SuggestByBayes(const Study& study, const Trials& trials, int64_t number, uint64_t seed);

/// Whether a trial with exactly these values was infeasible.
bool WasInfeasible(const Trials& trials, const Point& point);

}  // namespace caip::tuning
