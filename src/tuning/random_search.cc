// RANDOM_SEARCH.

#include <algorithm>

#include "tuning/suggest.h"

namespace caip::tuning {

bool WasInfeasible(const Trials& trials, const Point& point) {
  return std::any_of(trials.begin(), trials.end(), [&](const auto& entry) {
    const Trial& trial = entry.second;
    return trial.outcome && trial.outcome->infeasible && trial.point == point;
  });
}

Point AnyPoint(const Space& space, const Trials& trials, Random& random) {
  Point point = space.Draw(random);
  for (int tries = 1; tries < 100 && WasInfeasible(trials, point); ++tries) {
    point = space.Draw(random);
  }
  return point;
}

}  // namespace caip::tuning
