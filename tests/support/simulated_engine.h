#pragma once
// A whole engine in a small world on hand-driven time: one thread, no sleep, always the same.

#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "tests/support/fakes_engine.h"

namespace caip::engine {

inline constexpr Instant kMorning =
    std::chrono::sys_days(std::chrono::year(2022) / 2 / 9) + std::chrono::hours(9);

/// The store, the log and the storage outlive KillEmulator(); everything else is made anew.
class SimulatedEngine {
 public:
  explicit SimulatedEngine(EngineOptions given = {}) : options(std::move(given)) {
    options.journal = [this](const RunKey& run, const std::string& what) {
      if (keep_journal) journal.push_back(run.job_id + " " + what);
    };
  }

  /// Starts an emulator on what the store holds.
  void Boot() {
    engine = std::make_unique<Engine>(
        options, EnginePorts{launcher, packager, devices, addresses, store, log, storage}, clock);
    const Status recovered = engine->Recover();
    assert(recovered.ok());
    (void)recovered;
  }

  /// kill -9: replicas and loans are gone, the agenda with them.
  void KillEmulator() {
    engine.reset();
    agenda.Clear();
    launcher.LoseAll();
    packager.LoseAll();
    devices.LoseAll();
    addresses.LoseAll();
    while (clock.holders() > 0) clock.Release();
  }

  /// The next thing that happens; false when nothing ever will.
  bool Step() {
    engine->Turn();
    const Instant next = std::min(agenda.Next(), engine->NextDeadline());
    if (next == kNever) return false;
    clock.MoveTo(next);
    agenda.RunDue();
    engine->Turn();
    return true;
  }
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
  bool RunUntilState(const std::string& id, spec::JobState state) {
    return RunUntil([&] { return JobOf(id).state == state; });
  }
  void RunFor(Duration time) {
    bool over = false;
    agenda.In(time, [&] { over = true; });
    RunUntil([&] { return over; });
  }

  Result<spec::Job> Submit(spec::Job job) {
    Result<spec::Job> result = Error{};
    engine->SubmitLater("p", std::move(job), [&](auto answer) { result = std::move(answer); });
    engine->Turn();
    return result;
  }
  Status Cancel(const std::string& id) {
    Status result = Error{};
    engine->CancelLater("p", id, [&](Status answer) { result = std::move(answer); });
    engine->Turn();
    return result;
  }
  Status LoseVm(const std::string& id, spec::ReplicaId replica, VmLoss kind) {
    Status result = Error{};
    engine->LoseVmLater("p", id, replica, kind, [&](Status answer) { result = std::move(answer); });
    engine->Turn();
    return result;
  }
  /// As the API shows it; a default Job where there is none.
  spec::Job JobOf(const std::string& id) const {
    auto job = engine->Get("p", id);
    return job.ok() ? *std::move(job) : spec::Job{};
  }

  EngineOptions options;
  HandClock clock{kMorning};
  Agenda agenda{clock};
  ScriptedLauncher launcher{agenda};
  ScriptedPackager packager{agenda};
  CountedDevices devices;
  NumberedAddresses addresses;
  MemoryStore store;
  MemoryLog log;
  ListedStorage storage;
  std::vector<std::string> journal;
  bool keep_journal = true;
  std::unique_ptr<Engine> engine;
};

}  // namespace caip::engine
