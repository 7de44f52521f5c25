#pragma once
// A real engine with any API and any store, on hand-driven time and without processes.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "harness/simulation/scripted_ports.h"
#include "tests/support/simulated_engine.h"

namespace caip::engine {

/// `api` and `store` outlive it. The launcher's scripts decide what replicas do.
class SmallWorld {
 public:
  SmallWorld(const run::ApiPort& api, JobStore& store, Instant now)
      : clock(now), api_(api), store_(store) {}

  /// Starts an emulator on what the store holds.
  void Boot() {
    engine = std::make_unique<Engine>(options,
                                      EnginePorts{launcher, packager, devices, addresses, store_,
                                                  log, api_, executor, &launcher, more_apis},
                                      clock);
    const Status recovered = engine->Recover();
    assert(recovered.ok());
    (void)recovered;
  }

  /// The emulator is killed: replicas and loans are lost, and the store stays.
  void KillEmulator() {
    engine.reset();
    events.Clear();
    launcher.LoseAll();
    packager.LoseAll();
    devices.LoseAll();
    addresses.LoseAll();
    while (clock.holders() > 0) clock.Release();
  }

  /// As a client does, with every check.
  Result<run::Job> Submit(const Json& document, const run::JobPlace& place = {}) {
    ASSIGN_OR_RETURN(NewJob job, engine->Check("p", document, {}, place));
    Result<run::Job> answer = Error{};
    engine->SubmitLater(std::move(job), [&](Result<run::Job> result) { answer = result; });
    engine->Turn();
    return answer;
  }

  run::JobState StateOf(const std::string& id) const {
    const auto job = engine->Get("p", id);
    return job.ok() ? job->state : run::JobState::kUnspecified;
  }

  /// False when nothing will ever happen again.
  bool Step() {
    engine->Turn();
    const Instant next = std::min(events.Next(), engine->NextDeadline());
    if (next == kNever) return false;
    clock.MoveTo(next);
    events.RunDue();
    engine->Turn();
    return true;
  }
  void RunUntilIdle() {
    while (Step()) {
    }
  }
  bool RunUntilState(const std::string& id, run::JobState state) {
    while (StateOf(id) != state) {
      if (!Step()) return StateOf(id) == state;
    }
    return true;
  }

  EngineOptions options;  // of the next emulator
  ManualClock clock;
  EventQueue events{clock};
  ScriptedLauncher launcher{events};
  harness::ScriptedPackager packager{events};
  CountedDevices devices;
  NumberedAddresses addresses;
  MemoryLog log;
  harness::ScriptedExecutor executor{events};
  std::vector<const run::ApiPort*> more_apis;  // before Boot
  std::unique_ptr<Engine> engine;

 private:
  const run::ApiPort& api_;
  JobStore& store_;
};

}  // namespace caip::engine
