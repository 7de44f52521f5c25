#pragma once
// Runs many seeds on several threads and sums up the results.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/simulation/random_run.h"

namespace caip::harness {

/// All seeds from first to last.
struct SeedRange {
  uint64_t first = 1;
  uint64_t last = 1;
  bool operator==(const SeedRange&) const = default;
};

/// The seeds from `first` on that together have at least this number of jobs.
SeedRange SeedsFor(uint64_t first, uint64_t jobs);

struct SimulationOptions {
  SeedRange seeds;
  int threads = 1;
  RandomRunOptions run;
  /// Each thread calls it between seeds.
  std::function<bool()> interrupted = [] { return false; };
  /// Called after every tenth of the seeds, by one thread at a time.
  std::function<void(uint64_t seeds_done, uint64_t jobs_done)> progress;
};

/// The lowest seed that broke an invariant, run again with its journal.
struct FailedSeed {
  uint64_t seed = 0;
  std::vector<Violation> broken;
  std::vector<std::string> journal;
};

struct SimulationResult {
  Tally tally;  // of the seeds that ran
  bool interrupted = false;
  std::optional<FailedSeed> failed;
  std::vector<std::string> journal;  // of all seeds in order, if it was kept
};

/// Stops at the first seed that breaks an invariant. The same seeds give the same result with any
/// number of threads. If the simulation is interrupted or a seed fails, the tally has only the
/// seeds that ran.
SimulationResult Simulate(const SimulationOptions& options);

/// "2000 seeds, 5983 jobs: ..." in a few lines.
std::string TallyText(const Tally& tally);
/// The violations, the last lines of the journal, and the command that runs the seed again.
std::string FailureText(const FailedSeed& failed);

}  // namespace caip::harness
