#pragma once
// Looks on while a simulated engine moves, and holds the invariants against what it sees.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/simulation/invariants.h"

namespace caip::harness {

/// An invariant that did not hold: which, and what was seen.
struct Broken {
  std::string invariant;
  std::string saw;
  bool operator==(const Broken&) const = default;
};

/// Watches one world, through kills of its emulator. Made before the first Boot(); the world must
/// not outlive it.
class Witness {
 public:
  explicit Witness(SimulatedEngine& world);
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;

  /// To be asked when nothing will happen any more.
  void AtTheEnd();
  /// Something that is no invariant of the tables, seen by whoever plays.
  void Accuse(std::string invariant, std::string saw);

  const std::vector<Broken>& broken() const { return broken_; }
  size_t saves() const { return saves_; }
  /// Replicas that were started again by themselves, without the rest of their job.
  size_t restarts() const { return restarts_; }
  /// Of trials, that were kept.
  size_t reports() const { return reports_.size(); }

 private:
  struct Known {
    run::JobState state{};
    engine::RunNote note;
    ml::Job tuned;
    std::optional<engine::JobRecord> trial = {};  // the record of one, as saved last
  };
  void Saved(const engine::JobRecord* before, const engine::JobRecord& after);
  void TrialSaved(const engine::TrialRecord& after);
  void Check(const engine::JobRecord* before, const engine::JobRecord& after);
  void Reported(const engine::RunKey& trial, const std::vector<engine::Report>& reports);
  void Starts(const engine::ReplicaLaunch& launch);
  template <typename Facts>
  void Check(std::span<const Invariant<Facts>> invariants, const Facts& facts);

  SimulatedEngine& world_;
  std::vector<Broken> broken_;
  std::map<engine::RunKey, Known> known_;  // as saved last
  std::set<engine::ReplicaKey> boots_;
  std::map<std::pair<engine::RunKey, run::ReplicaId>, engine::Environment> environments_;
  std::set<std::tuple<engine::RunKey, int64_t, double>> reports_;  // trial, step, time
  size_t saves_ = 0;
  size_t restarts_ = 0;
};

}  // namespace caip::harness
