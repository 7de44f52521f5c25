#pragma once
// Random jobs, faults, cancels and killed emulators. The seed determines the whole run.

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/simulation/invariant_monitor.h"

namespace caip::harness {

/// Sums over seeds. They show that a simulation did something.
struct Tally {
  uint64_t seeds = 0;
  uint64_t jobs = 0;     // submitted; each was refused or has ended
  uint64_t refused = 0;  // because the store was full or the emulator was about to be killed
  std::map<run::JobState, uint64_t> ends;
  uint64_t events = 0;  // handled by the engine
  uint64_t saves = 0;
  uint64_t launches = 0;
  uint64_t restarts = 0;  // of single replicas
  uint64_t retries = 0;   // of whole jobs
  uint64_t cancels = 0;
  std::array<uint64_t, 3> machines_lost{};  // by engine::VmLoss
  uint64_t kills_of_the_emulator = 0;
  uint64_t refused_saves = 0;
  uint64_t trials = 0;   // of tuning jobs
  uint64_t reports = 0;  // saved reports of trials

  Tally& operator+=(const Tally& other);
  bool operator==(const Tally&) const = default;
};

struct RandomRunOptions {
  bool keep_journal = false;
  /// Lets a test break the simulated engine before it boots, to check that an invariant finds that.
  std::function<void(SimulatedEngine& world)> spoil;
};

/// The result of one seed.
struct SeedResult {
  Tally tally;
  std::vector<Violation> broken;  // of the first step that breaks an invariant; the run ends there
  std::vector<std::string> journal;
};

/// The number of jobs of the seed: 1 to 5.
int JobsOf(uint64_t seed);
/// The same seed has the same result, including the journal.
SeedResult RunSeed(uint64_t seed, const RandomRunOptions& options = {});

}  // namespace caip::harness
