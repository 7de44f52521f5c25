// GRID_SEARCH.

#include <set>

#include "tuning/suggest.h"

namespace caip::tuning {
namespace {

// The first values of all parameters from `index` on that `point` calls for.
void FillFirst(const Space& space, size_t index, Point& point) {
  const auto& parameters = space.parameters();
  for (size_t i = index; i < parameters.size(); ++i) {
    point.erase(parameters[i].name);
    if (space.IsActive(i, point)) point.emplace(parameters[i].name, *parameters[i].First());
  }
}

// Like an odometer: the last wheel that can turn, and the first values behind it.
bool Advance(const Space& space, Point& point) {
  const auto& parameters = space.parameters();
  for (size_t i = parameters.size(); i-- > 0;) {
    const auto at = point.find(parameters[i].name);
    if (at == point.end()) continue;
    if (const auto next = parameters[i].After(at->second)) {
      at->second = *next;
      FillFirst(space, i + 1, point);
      return true;
    }
  }
  return false;
}

}  // namespace

std::optional<Point> NextOfGrid(const Space& space, const Trials& trials) {
  std::set<Point> taken;
  for (const auto& [number, trial] : trials) taken.insert(trial.point);
  Point point;
  FillFirst(space, 0, point);
  while (taken.contains(point)) {
    if (!Advance(space, point)) return std::nullopt;
  }
  return point;
}

}  // namespace caip::tuning
