#pragma once
// The invariants of every saved state, every start and every step. Each is one function, with a
// name for people.

#include <span>
#include <string>

#include "engine/run_note.h"
#include "harness/simulation/simulated_engine.h"

namespace caip::harness {

/// A record that is about to be stored, and the one that it replaces, if any.
struct SaveFacts {
  const SimulatedEngine& world;
  const engine::JobRecord& record;
  const engine::RunNote& note;
  const ml::Job& tuned;  // the resource of a record with trials, else empty
  const engine::JobRecord* last_record = nullptr;
  const engine::RunNote* last_note = nullptr;
  const ml::Job* last_tuned = nullptr;
};

/// A start of a replica, and its job as last saved.
struct StartFacts {
  const SimulatedEngine& world;
  const engine::ReplicaLaunch& launch;
  run::JobState state;
  const engine::RunNote& note;
  bool is_new_boot = true;
  bool is_as_before = true;  // the environment equals that of every earlier start, byte for byte
};

/// The simulated engine between two events, or when there are no more events.
struct WorldFacts {
  const SimulatedEngine& world;
};

template <typename Facts>
struct Invariant {
  const char* name;
  bool (*holds)(const Facts&);
};

std::span<const Invariant<SaveFacts>> InvariantsOfEverySave();
std::span<const Invariant<StartFacts>> InvariantsOfEveryStart();
std::span<const Invariant<WorldFacts>> InvariantsOfEveryStep();
std::span<const Invariant<WorldFacts>> InvariantsOfTheEnd();

/// Describes the facts for the report of a violation.
std::string Describe(const SaveFacts& facts);
std::string Describe(const StartFacts& facts);
std::string Describe(const WorldFacts& facts);

}  // namespace caip::harness
