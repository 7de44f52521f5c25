#include "tuning/optimizer.h"

#include <algorithm>
#include <set>
#include <string>

namespace caip::tuning {
namespace {

std::optional<Point> ComputeSuggestion(const Study& study, const Trials& trials, int64_t number,
                                       uint64_t seed) {
  if (study.algorithm == Algorithm::kGrid) return SuggestFromGrid(study.space, trials);
  if (study.algorithm == Algorithm::kBayesian) {
    return SuggestByBayes(study, trials, number, seed);
  }
  Random random = Random(seed).Fork("trial " + std::to_string(number));
  return SuggestAtRandom(study.space, trials, random);
}

}  // namespace

std::optional<Point> Optimizer::Suggestion(int64_t number) const {
  const auto known = trials_.find(number);
  if (known != trials_.end()) return known->second.point;
  return ComputeSuggestion(study_, trials_, number, seed_);
}

std::optional<Point> Optimizer::Ask(int64_t number) {
  auto point = Suggestion(number);
  if (point) Add(number, *point);
  return point;
}

void Optimizer::Add(int64_t number, Point point) {
  trials_.try_emplace(number, Trial{std::move(point)});
}

void Optimizer::Tell(int64_t number, Outcome outcome) {
  const auto trial = trials_.find(number);
  if (trial != trials_.end()) trial->second.outcome = std::move(outcome);
}

// GRID_SEARCH and RANDOM_SEARCH.

namespace {

// Sets all active parameters from `index` on to their first values.
void FillFirst(const Space& space, size_t index, Point& point) {
  const auto& parameters = space.parameters();
  for (size_t i = index; i < parameters.size(); ++i) {
    point.erase(parameters[i].name);
    if (space.IsActive(i, point)) point.emplace(parameters[i].name, *parameters[i].First());
  }
}

// Moves to the next point, as an odometer does: the last parameter that can change takes its next
// value, and those after it their first values. False at the end.
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

std::optional<Point> SuggestFromGrid(const Space& space, const Trials& trials) {
  std::set<Point> taken;
  for (const auto& [number, trial] : trials) taken.insert(trial.point);
  Point point;
  FillFirst(space, 0, point);
  while (taken.contains(point)) {
    if (!Advance(space, point)) return std::nullopt;
  }
  return point;
}

bool WasInfeasible(const Trials& trials, const Point& point) {
  return std::any_of(trials.begin(), trials.end(), [&](const auto& entry) {
    const Trial& trial = entry.second;
    return trial.outcome && trial.outcome->infeasible && trial.point == point;
  });
}

Point SuggestAtRandom(const Space& space, const Trials& trials, Random& random) {
  Point point = space.Draw(random);
  for (int tries = 1; tries < 100 && WasInfeasible(trials, point); ++tries) {
    point = space.Draw(random);
  }
  return point;
}

}  // namespace caip::tuning
