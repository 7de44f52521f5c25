#pragma once
// A whole engine in a small world on hand-driven time: one thread, no sleep, always the same.

#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "harness/simulation/counted_lenders.h"
#include "harness/simulation/hand_clock.h"
#include "harness/simulation/listed_storage.h"
#include "harness/simulation/memory_store.h"
#include "harness/simulation/scripted_launcher.h"
#include "harness/simulation/scripted_packager.h"
#include "harness/simulation/scripted_thinker.h"
#include "ml/training_api.h"

namespace caip::harness {

inline constexpr Instant kMorning =
    std::chrono::sys_days(std::chrono::year(2022) / 2 / 9) + std::chrono::hours(9);

/// The store, the log and the storage outlive KillEmulator(); everything else is made anew.
class SimulatedEngine {
 public:
  explicit SimulatedEngine(engine::EngineOptions given = {});
  SimulatedEngine(const SimulatedEngine&) = delete;
  SimulatedEngine& operator=(const SimulatedEngine&) = delete;

  /// Starts an emulator on what the store holds.
  void Boot();
  /// kill -9: replicas and loans are gone, the agenda with them.
  void KillEmulator();

  /// The next thing that happens; false when nothing ever will.
  bool Step();
  void RunUntilIdle() {
    while (Step()) {
    }
  }
  /// Until `done`, or until nothing will happen any more.
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
  Status LoseVm(const std::string& id, const run::ReplicaId& replica, engine::VmLoss kind,
                const std::string& trial = "");
  /// As the API shows it; a default Job where there is none.
  ml::Job JobOf(const std::string& id) const;

  engine::EngineOptions options;
  ml::TrainingApiOptions api_options;
  HandClock clock{kMorning};
  Agenda agenda{clock};
  ScriptedLauncher launcher{agenda};
  ScriptedPackager packager{agenda};
  CountedDevices devices;
  NumberedAddresses addresses;
  MemoryStore store;
  MemoryLog log;
  ListedStorage storage;
  std::unique_ptr<ml::TrainingApi> api;
  ScriptedThinker thinker{agenda};
  std::vector<std::string> journal;
  bool keep_journal = true;
  std::function<void()> after_step;  // whoever looks on; unset: nobody
  std::unique_ptr<engine::Engine> engine;
};

}  // namespace caip::harness
