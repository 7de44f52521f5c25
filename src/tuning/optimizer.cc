#include "tuning/optimizer.h"

#include <string>

#include "tuning/suggest.h"

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

}  // namespace caip::tuning
