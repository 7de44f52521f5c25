#pragma once
// What must hold of every saved state, every launch and every moment, whatever happens. One
// function each, with a name a person reads.

#include <span>
#include <string>

#include "engine/run_note.h"
#include "harness/simulation/simulated_engine.h"

namespace caip::harness {

/// A record that is about to be stored, and the one whose place it takes, if there is one.
struct SaveFacts {
  const SimulatedEngine& world;
  const engine::JobRecord& record;
  const engine::RunNote& note;
  const ml::Job& tuned;  // the record's resource where it has trials, else empty
  const engine::JobRecord* last_record = nullptr;
  const engine::RunNote* last_note = nullptr;
  const ml::Job* last_tuned = nullptr;
};

/// A start of a replica, and its job as saved last.
struct StartFacts {
  const SimulatedEngine& world;
  const engine::ReplicaLaunch& launch;
  run::JobState state;
  const engine::RunNote& note;
  bool is_new_boot = true;
  bool is_as_before = true;  // the environment of every earlier start, byte for byte
};

/// Everything, between two events or when nothing will happen any more.
struct WorldFacts {
  const SimulatedEngine& world;
};

template <typename Facts>
struct Invariant {
  const char* name;
  bool (*holds)(const Facts&);
};

std::span<const Invariant<SaveFacts>> OfEverySave();
std::span<const Invariant<StartFacts>> OfEveryStart();
std::span<const Invariant<WorldFacts>> OfEveryMoment();
std::span<const Invariant<WorldFacts>> OfTheEnd();

/// For whoever is told that an invariant broke.
std::string Describe(const SaveFacts& facts);
std::string Describe(const StartFacts& facts);
std::string Describe(const WorldFacts& facts);

}  // namespace caip::harness
