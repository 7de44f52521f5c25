#pragma once
// The writes of a watched replica to its stdout and stderr, in lock-step with the log.

#include <optional>

#include "host/process/replica_output.h"
#include "host/watch/replica_watcher.h"
#include "host/watch/watched_call.h"

namespace caip::host {

struct WatchedReplica;

/// Takes the bytes of a write to the log, tells the watcher, and only then lets the write return.
/// The replica's own thread. What it is given outlives it.
class WatchedOutput {
 public:
  WatchedOutput(const WatchedReplica& replica, ReplicaOutput& output, ReplicaWatcher& watcher)
      : replica_(replica), output_(output), watcher_(watcher) {}

  Handled Handle(const WatchedCall& call);

 private:
  /// What the descriptor in an argument of the call stands for.
  std::optional<host::OutputStream> StreamOf(const WatchedCall& call, int argument) const;
  Handled Write(const WatchedCall& call, host::OutputStream stream);
  Handled Tell(const WatchedCall& call, int64_t taken);

  const WatchedReplica& replica_;
  ReplicaOutput& output_;
  ReplicaWatcher& watcher_;
};

}  // namespace caip::host
