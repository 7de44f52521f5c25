#pragma once
// Chooses the values of the next trial (docs/service/hyperparameter-tuning.md, section 3): ask and
// tell.
//
// A suggestion is a function of the study, the seed, the trial's number and the known trials. So a
// restarted emulator rebuilds the optimizer from its stored trials (Add for each, Tell for those
// that ended, in any order) and gets the same suggestions as one that never stopped.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/random.h"
#include "tuning/space.h"
#include "tuning/trial.h"

namespace caip::tuning {

enum class Algorithm {
  kBayesian,  // ALGORITHM_UNSPECIFIED, GAUSSIAN_PROCESS_BANDIT
  kGrid,
  kRandom,
};

/// Describes a study: its space, goals and algorithm.
struct Study {
  Space space;
  std::vector<Goal> goals;  // one for each metric, at least one
  Algorithm algorithm = Algorithm::kBayesian;
};

/// Suggests points from the known trials. Used by one thread.
class Optimizer {
 public:
  Optimizer(Study study, uint64_t seed) : study_(std::move(study)), seed_(seed) {}

  const Study& study() const { return study_; }
  const Trials& trials() const { return trials_; }

  /// Returns the values that Ask would return, but does not add the trial.
  std::optional<Point> Suggestion(int64_t number) const;
  /// Chooses values for the trial, which is pending from now on. For a known trial, returns its
  /// values. nullopt: a grid has no more points.
  std::optional<Point> Ask(int64_t number);
  /// Adds a trial with given values: a stored one, one of an earlier job, or one of the user. It is
  /// pending until Tell.
  void Add(int64_t number, Point point);
  /// Records the end of a trial. Ignores unknown numbers.
  void Tell(int64_t number, Outcome outcome);

 private:
  Study study_;
  uint64_t seed_;
  Trials trials_;
};

// The algorithms of Optimizer, one function each.

/// Returns the first point, in the order of the parameters and their values, that no trial has. The
/// last parameter changes fastest. nullopt: trials have all points. The space has no DOUBLE.
std::optional<Point> SuggestFromGrid(const Space& space, const Trials& trials);

/// Returns a random point. Avoids infeasible points, unless a hundred draws find no other.
Point SuggestAtRandom(const Space& space, const Trials& trials, Random& random);

/// Returns the point with the greatest expected improvement over the known trials. Returns a known
/// point only if there are no others.
Point SuggestByBayes(const Study& study, const Trials& trials, int64_t number, uint64_t seed);

/// True if a trial with exactly these values was infeasible.
bool WasInfeasible(const Trials& trials, const Point& point);

}  // namespace caip::tuning
