#pragma once
// Replicas as processes of this host.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/files.h"
#include "engine/ports.h"
#include "host/machine/isolation.h"
#include "host/process/image_map.h"
#include "host/watch/interposition.h"
#include "host/watch/replica_watcher.h"

namespace caip::host {

struct ProcessLauncherOptions {
  Path state_directory;
  Path program = {};  // caip-launcher; empty: the one beside the running program
  ImageMap images = {};
  /// How many processes the kernel has killed for want of memory since it booted.
  std::function<int64_t()> oom_kills = {};  // empty: asks /proc/vmstat
  /// Decides at the watched calls of replicas whose launch asks for it; null: none may ask.
  /// Outlives the launcher.
  ReplicaWatcher* watcher = nullptr;
  /// How watched calls are held.
  Interposition::Kind interposition = InterpositionOf().kind;
};

/// Starts each replica through caip-launcher in its own session on its own boot disk, with exactly
/// the environment it was given and CAIP_REPLICA (orphans.h). The methods only leave a note for a
/// thread of ours; the listeners are called on threads of ours, until the destructor has returned.
/// The destructor kills what still runs, without an exit for it. `clock` and `sink` must outlive
/// it.
class ProcessLauncher final : public engine::Launcher {
 public:
  /// Kills the replicas of an earlier emulator on this state directory and deletes their disks.
  static Result<std::unique_ptr<ProcessLauncher>> Start(ProcessLauncherOptions options,
                                                        const Clock& clock, engine::LogSink& sink);
  ~ProcessLauncher() override;

  /// Who serves the doors of runs' networks; before the first launch with `isolation`.
  void ServeDoors(Doorkeeper keeper);
  /// The name (run::Name) of the run's replica that has a connection's other end, by its
  /// address "127.0.0.1:51234" in the run's network; "" unknown. Any thread; takes milliseconds.
  std::string TaskOfClient(const engine::RunKey& run, const std::string& client) const;

  Result<run::Program> Resolve(const run::Program& program) const override;
  std::string BootDisk(const engine::ReplicaKey& key) const override;
  void Launch(engine::ReplicaLaunch launch, Listener listener) override;
  void Signal(const engine::ReplicaKey& key, int signal) override;
  void Kill(const engine::ReplicaKey& key) override;
  void Freeze(const engine::ReplicaKey& key, std::function<void()> frozen) override;
  void Thaw(const engine::ReplicaKey& key) override;
  void Discard(const engine::RunKey& run) override;

 private:
  class Core;
  explicit ProcessLauncher(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

/// The caip-launcher that lies beside the running program.
Path LauncherBesideUs();

/// The count of /proc/vmstat; 0 where there is none.
int64_t OomKillsOfHost();

}  // namespace caip::host
