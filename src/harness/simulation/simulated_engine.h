#pragma once
// An engine with simulated ports and a manual clock: one thread, no sleep, the same in each run.

#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "harness/simulation/fake_resources.h"
#include "harness/simulation/manual_clock.h"
#include "harness/simulation/memory_store.h"
#include "harness/simulation/scripted_ports.h"
#include "ml/training_api.h"

namespace caip::harness {

inline constexpr Instant kMorning =
    std::chrono::sys_days(std::chrono::year(2022) / 2 / 9) + std::chrono::hours(9);

/// The store, the log and the storage outlive KillEmulator(). Boot() makes all other parts again.
class SimulatedEngine {
 public:
  explicit SimulatedEngine(engine::EngineOptions given = {});
  SimulatedEngine(const SimulatedEngine&) = delete;
  SimulatedEngine& operator=(const SimulatedEngine&) = delete;

  /// Starts an emulator with the contents of the store.
  void Boot();
  /// Removes the engine with its replicas, devices, addresses and events, as SIGKILL does.
  void KillEmulator();

  /// Moves to the next event. False if there is none.
  bool Step();
  void RunUntilIdle() {
    while (Step()) {
    }
  }
  /// Runs until `done`, or until there are no more events.
  template <typename Predicate>
  bool RunUntil(Predicate done) {
    while (!done()) {
      if (!Step()) return done();
    }
    return true;
  }
  bool RunUntilState(const std::string& id, run::JobState state) {
    return RunUntil([&] { return JobOf(id).state == state; });
  }
  void RunFor(Duration time);

  Result<ml::Job> Submit(ml::Job job);
  Status Cancel(const std::string& id);
  Result<run::Job> Update(const std::string& id, engine::DocumentChange change);
  Status LoseVm(const std::string& id, const run::ReplicaId& replica, engine::VmLoss kind,
                const std::string& trial = "");
  /// The job as the API shows it; a default Job if there is none.
  ml::Job JobOf(const std::string& id) const;

  engine::EngineOptions options;
  ml::TrainingApiOptions api_options;
  ManualClock clock{kMorning};
  EventQueue events{clock};
  ScriptedLauncher launcher{events};
  ScriptedPackager packager{events};
  CountedDevices devices;
  NumberedAddresses addresses;
  MemoryStore store;
  MemoryLog log;
  FakeStorage storage;
  std::unique_ptr<ml::TrainingApi> api;
  ScriptedExecutor executor{events};
  std::vector<std::string> journal;
  bool keep_journal = true;
  std::function<void()> after_step;  // called after each step; may be empty
  std::unique_ptr<engine::Engine> engine;
};

}  // namespace caip::harness
