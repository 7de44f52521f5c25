#pragma once
// Who wants to see of a run what its event list does not tell.

#include <string>
#include <vector>

#include "engine/ports.h"
#include "host/watch/replica_watcher.h"

namespace caip::scenario {

/// Outlives the run. Any thread, several at once.
class Onlooker {
 public:
  virtual ~Onlooker() = default;
  /// A replica is about to be started, on this boot disk.
  virtual void Launching(const engine::ReplicaLaunch&, const std::string& /*boot_disk*/) {}
  /// Whether it wants to be told of files.
  virtual bool looks() const { return false; }
  /// It did something to a file.
  virtual void Seen(const engine::ReplicaKey&, const host::FileSight&) {}
  /// Processes that outlived its main process, as host::ReplicaWatcher has them.
  virtual void LeftRunning(const engine::ReplicaKey&, const std::vector<std::string>&) {}
  /// It printed or logged a line.
  virtual void Printed(const engine::LogLine&) {}
  /// It has ended, and its boot disk is as it left it.
  virtual void Ended(const engine::ReplicaExit&) {}
};

}  // namespace caip::scenario
