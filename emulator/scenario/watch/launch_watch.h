#pragma once
// Reports launches and package installations to the fault injector, which may delay or refuse them.

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "emulator/scenario/fake_clocks.h"
#include "emulator/scenario/network_faults.h"
#include "emulator/scenario/run_observer.h"
#include "emulator/scenario/watch/request_watch.h"
#include "engine/ports.h"
#include "harness/faults/fault_injector.h"
#include "host/abilities.h"

namespace caip::scenario {

/// Alters a launch after all other changes to it.
using LaunchEditor = std::function<void(engine::ReplicaLaunch&, const std::string& boot_disk)>;

/// Optional additions to each launch. All may be null.
struct LaunchHooks {
  MachineCallers* callers = nullptr;  // learns the addresses of machines
  FakeClocks* clocks = nullptr;       // gives replicas a clock that faults can step
  NetworkFaults* networks = nullptr;  // gives networks their faults before replicas start
  LaunchEditor alter = nullptr;
  RunObserver* observer = nullptr;
  std::function<void(const std::string& why)> refused = {};  // the host could not start a replica
  /// A replica that is a process of this host and has port 2222 ended with an error that no fault
  /// and no signal caused. None of its own processes runs any more. `has_peers`: other replicas of
  /// its job may run.
  std::function<void(bool has_peers)> replica_failed = {};
};

/// A launcher that reports each start and end. `injector` must outlive it.
class WatchedLauncher final : public host::ForwardingLauncher {
 public:
  WatchedLauncher(std::unique_ptr<engine::Launcher> inner, engine::LocalDisks& disks,
                  harness::FaultInjector& injector, LaunchHooks hooks)
      : ForwardingLauncher(std::move(inner)),
        disks_(disks),
        injector_(injector),
        hooks_(std::move(hooks)) {}

  void Launch(engine::ReplicaLaunch launch, Listener listener) override;
  void Signal(const engine::ReplicaKey& key, int signal) override;

  /// Ends the boot's program. Its end is reported with this exit status, as an error of its own.
  void Fail(const engine::ReplicaKey& key, int status);

  /// The boot that was launched last. nullopt before the first launch.
  std::optional<engine::ReplicaKey> LastBoot(const std::string& replica) const;

  /// How many signals were sent to the boot.
  int CountSignals(const engine::ReplicaKey& key) const;
  /// Blocks until more than `known` were, or the boot has ended, or some seconds have passed.
  void WaitForSignal(const engine::ReplicaKey& key, int known) const;

 private:
  /// Replicas that end last do so while the launcher is destroyed, so their listeners own it, too.
  struct Sent {
    std::mutex mutex;
    std::condition_variable changed;
    std::map<engine::ReplicaKey, int> signals;
    std::set<engine::ReplicaKey> ended;
    std::map<engine::ReplicaKey, int> failed;  // the exit status that a fault gives to the boot

    void NoteEnd(const engine::ReplicaKey& key);
    /// Whether the boot ended with an error that no fault and no signal caused.
    bool FailedByItself(const engine::ReplicaExit& exit);
    /// The end as the engine learns of it.
    engine::ReplicaExit AsReported(engine::ReplicaExit exit);
  };

  std::function<void(const engine::ReplicaExit&)> NotingFailures(
      bool has_peers, std::function<void(const engine::ReplicaExit&)> next) const;

  engine::LocalDisks& disks_;
  harness::FaultInjector& injector_;
  LaunchHooks hooks_;
  mutable std::mutex mutex_;
  std::map<std::string, engine::ReplicaKey> last_;
  const std::shared_ptr<Sent> sent_ = std::make_shared<Sent>();
};

/// A packager that reports each installation. `injector` must outlive it.
std::unique_ptr<engine::Packager> WatchedPackager(std::unique_ptr<engine::Packager> inner,
                                                  harness::FaultInjector& injector);

}  // namespace caip::scenario
