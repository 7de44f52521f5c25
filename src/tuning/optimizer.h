#pragma once
// Names the values of the next trial (docs/service/hyperparameter-tuning.md, section 3): ask and
// tell.
//
// What is asked is a function of the study, the seed, the trial's number and the trials known by
// then. So an emulator that starts again rebuilds the optimizer from the trials it has kept: Add
// for each, Tell for those that ended, in any order; and it asks the same as one that never
// stopped.

#include <cstdint>
#include <optional>
#include <vector>

#include "tuning/space.h"
#include "tuning/trial.h"

namespace caip::tuning {

enum class Algorithm {
  kBayesian,  // ALGORITHM_UNSPECIFIED, GAUSSIAN_PROCESS_BANDIT
  kGrid,
  kRandom,
};

/// What is sought, and how.
struct Study {
  Space space;
  std::vector<Goal> goals;  // one for each metric, at least one
  Algorithm algorithm = Algorithm::kBayesian;
};

/// One owner, one thread; no clock, no I/O.
class Optimizer {
 public:
  Optimizer(Study study, uint64_t seed) : study_(std::move(study)), seed_(seed) {}

  const Study& study() const { return study_; }
  const Trials& trials() const { return trials_; }

  /// What Ask would answer. The trial does not become known.
  std::optional<Point> Suggestion(int64_t number) const;
  /// Values for the trial of that number, which is pending from now on. nullopt: a grid has no more
  /// points. Asking for a known trial again answers what it has.
  std::optional<Point> Ask(int64_t number);
  /// Makes a trial known whose values are settled: kept from before, of an earlier job, or chosen
  /// by the user. Pending until it is told of.
  void Add(int64_t number, Point point);
  /// The trial has ended. Of an unknown number nothing is learned.
  void Tell(int64_t number, Outcome outcome);

 private:
  Study study_;
  uint64_t seed_;
  Trials trials_;
};

}  // namespace caip::tuning
