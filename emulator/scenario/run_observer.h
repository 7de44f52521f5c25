#pragma once
// Observes what happens in a run besides the events of its list.

#include <string>
#include <vector>

#include "engine/ports.h"
#include "host/watch/replica_watcher.h"

namespace caip::scenario {

/// Must outlive the run. Any thread calls it, several at once.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  /// A replica is about to be started. `disks` outlives its run.
  virtual void Launching(const engine::ReplicaLaunch&, engine::LocalDisks& /*disks*/) {}
  /// Whether the run calls Seen.
  virtual bool WantsFiles() const { return false; }
  /// A replica used a file.
  virtual void Seen(const engine::ReplicaKey&, const host::FileAccess&) {}
  /// Processes outlived the replica's main process: see host::ReplicaWatcher.
  virtual void LeftRunning(const engine::ReplicaKey&, const std::vector<std::string>&) {}
  /// A replica printed or logged a line.
  virtual void Printed(const engine::LogLine&) {}
  /// A replica has ended. Its boot disk is unchanged since.
  virtual void Ended(const engine::ReplicaExit&) {}
};

}  // namespace caip::scenario
