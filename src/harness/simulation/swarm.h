#pragma once
// Random jobs, faults, cancels and killed emulators: all of a life follows from its seed.

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/simulation/invariant_monitor.h"

namespace caip::harness {

/// What happened, summed up over seeds, so that a simulation of nothing is noticed.
struct Tally {
  uint64_t seeds = 0;
  uint64_t jobs = 0;     // asked for; each was refused, or has ended
  uint64_t refused = 0;  // at the door: the store was full or the emulator dying
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
  uint64_t reports = 0;  // of those, kept

  Tally& operator+=(const Tally& other);
  bool operator==(const Tally&) const = default;
};

struct SwarmOptions {
  bool keep_journal = false;
  /// What a test spoils of a world before it boots, to see that it is found out.
  std::function<void(SimulatedEngine& world)> spoil;
};

/// One seed's life of an emulator.
struct SeedPlayed {
  Tally tally;
  std::vector<Broken> broken;  // the play ends with the first moment that breaks something
  std::vector<std::string> journal;
};

/// How many jobs the seed's life has: 1 to 5.
int JobsOf(uint64_t seed);
/// The same seed gives the same, to the byte of the journal.
SeedPlayed PlaySeed(uint64_t seed, const SwarmOptions& options = {});

}  // namespace caip::harness
