#pragma once
// Abilities of some launchers beyond engine::Launcher. A LauncherBundle (launcher_bundle.h) offers
// each ability as a pointer, which is null if the launcher lacks it. engine::LocalDisks is one of
// them, too.

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "engine/ports.h"
#include "host/network/packet_faults.h"
#include "host/watch/replica_watcher.h"

namespace caip::host {

/// The ability to stop a replica in mid-step.
class Freezable {
 public:
  virtual ~Freezable() = default;
  /// Stops everything that the replica started (SIGSTOP). `frozen` is called once, on any thread,
  /// when the replica makes no further step or has ended. A frozen replica can be killed.
  virtual void Freeze(const engine::ReplicaKey& key, std::function<void()> frozen) = 0;
  /// Lets a frozen replica continue.
  virtual void Thaw(const engine::ReplicaKey& key) = 0;
};

/// The ability to hold replicas at their system calls.
class Watchable {
 public:
  virtual ~Watchable() = default;
  /// Holds the replicas that are launched from now on at the calls that `watch` names, and asks
  /// `watcher` about each. `watcher` must outlive the launcher.
  virtual void Watch(ReplicaWatch watch, ReplicaWatcher& watcher) = 0;
};

/// A replica that runs: its processes on this host.
struct LivingReplica {
  engine::ReplicaKey key;
  std::string task;         // its name in the log
  pid_t init = 0;           // the ancestor of its processes
  pid_t leader = 0;         // its main process, in the PID namespace of `init`
  bool is_machine = false;  // its processes have namespaces of their own
  std::string directory;    // in which it was started, as it sees it
  std::string marker;       // the value of CAIP_REPLICA in its environment (process/orphans.h)
};

/// The ability to show the processes of replicas.
class ShowsProcesses {
 public:
  virtual ~ShowsProcesses() = default;
  /// The replicas of a job that run. Any thread.
  virtual std::vector<LivingReplica> LivingOf(const std::string& project,
                                              const std::string& job_id) const = 0;
};

/// Called with the tag of a listener in a run's network and its listening socket. Any thread.
using EndpointHandler = std::function<void(const std::string& tag, Fd listening)>;

/// The ability to give each replica a machine of its own, with an address in a network of the run
/// (ReplicaLaunch::isolation).
class OwnMachines {
 public:
  virtual ~OwnMachines() = default;
  /// The address that all replicas of a run use for the emulator and for Google's names.
  virtual std::string SharedAddress() const = 0;
  /// The address at which all replicas of a run reach this host's 127.0.0.1.
  virtual std::string HostAddress() const = 0;
  /// Sets the function that gets the listeners of runs' networks. Call it before the first launch.
  virtual void SetEndpointHandler(EndpointHandler handler) = 0;
  /// Opens the network of a run, and makes machines at these addresses ("10.128.0.2") for the next
  /// launches there. A failure is reported by the launch. Discard closes the network.
  virtual void MakeAhead(const engine::RunKey& run,
                         std::shared_ptr<const engine::RunNetwork> network,
                         std::vector<std::string> addresses) = 0;
};

/// Called on any thread.
struct NetworkListener {
  std::function<void()> in_effect = {};  // once, also after a failure
  std::function<void(const std::string& why)> failed = {};
};

/// The ability to disturb the network of a run's machines.
class DisturbsNetworks {
 public:
  virtual ~DisturbsNetworks() = default;
  /// Replaces the faults of a run's network. The new ones are in effect when the listener is
  /// called. A network that is not open yet gets them before its first machine starts, and its
  /// listener is called at once; a failure is reported later.
  virtual void SetPacketFaults(const engine::RunKey& run, std::vector<PacketFault> faults,
                               NetworkListener listener) = 0;
};

/// The base of decorators: owns another launcher and passes every call on to it. A decorator
/// overrides the calls that it changes.
class ForwardingLauncher : public engine::Launcher {
 public:
  explicit ForwardingLauncher(std::unique_ptr<engine::Launcher> inner) : inner_(std::move(inner)) {}

  Result<run::Program> Resolve(const run::Program& program) const override {
    return inner_->Resolve(program);
  }
  void Expect(const engine::RunKey& run, const std::vector<std::string>& addresses) override {
    inner_->Expect(run, addresses);
  }
  void Launch(engine::ReplicaLaunch launch, Listener listener) override {
    inner_->Launch(std::move(launch), std::move(listener));
  }
  void Signal(const engine::ReplicaKey& key, int signal) override { inner_->Signal(key, signal); }
  void Kill(const engine::ReplicaKey& key) override { inner_->Kill(key); }
  void Discard(const engine::RunKey& run) override { inner_->Discard(run); }

 protected:
  engine::Launcher& inner() { return *inner_; }

 private:
  std::unique_ptr<engine::Launcher> inner_;
};

}  // namespace caip::host
