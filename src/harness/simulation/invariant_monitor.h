#pragma once
// Checks the invariants at each step of a simulated engine.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/simulation/invariants.h"

namespace caip::harness {

/// An invariant that did not hold, and the values found.
struct Violation {
  std::string invariant;
  std::string found;
  bool operator==(const Violation&) const = default;
};

/// Watches one simulated engine, also after KillEmulator(). Create it before the first Boot(). The
/// engine must not outlive it.
class InvariantMonitor {
 public:
  explicit InvariantMonitor(SimulatedEngine& world);
  InvariantMonitor(const InvariantMonitor&) = delete;
  InvariantMonitor& operator=(const InvariantMonitor&) = delete;

  /// Checks the invariants of the end. Call it when there are no more events.
  void CheckEnd();
  /// Adds a violation that the caller found.
  void AddViolation(std::string invariant, std::string found);

  const std::vector<Violation>& broken() const { return broken_; }
  size_t saves() const { return saves_; }
  /// Restarts of single replicas.
  size_t restarts() const { return restarts_; }
  /// Saved reports of trials.
  size_t reports() const { return reports_.size(); }

 private:
  struct Known {
    run::JobState state{};
    engine::RunNote note;
    ml::Job tuned;
    std::optional<engine::JobRecord> trial = {};  // the last saved record of a trial
  };
  void Saved(const engine::JobRecord* before, const engine::JobRecord& after);
  void TrialSaved(const engine::TrialRecord& after);
  void Check(const engine::JobRecord* before, const engine::JobRecord& after);
  void Reported(const engine::RunKey& trial, const std::vector<engine::Report>& reports);
  void Starts(const engine::ReplicaLaunch& launch);
  template <typename Facts>
  void Check(std::span<const Invariant<Facts>> invariants, const Facts& facts);

  SimulatedEngine& world_;
  std::vector<Violation> broken_;
  std::map<engine::RunKey, Known> known_;  // the last saved state of each run
  std::set<engine::ReplicaKey> boots_;
  std::map<std::pair<engine::RunKey, run::ReplicaId>, engine::Environment> environments_;
  std::set<std::tuple<engine::RunKey, int64_t, double>> reports_;  // trial, step, time
  size_t saves_ = 0;
  size_t restarts_ = 0;
};

}  // namespace caip::harness
