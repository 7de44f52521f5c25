#pragma once
// Turns caip-launcher's report about a replica's end into an exit for the engine and entries for
// the log. Pure, except that it examines a program that could not be started.

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "engine/ports.h"
#include "host/launcher/protocol.h"
#include "host/process/live_replicas.h"
#include "host/process/replica_output.h"

namespace caip::host {

/// The exit code or signal, from the native status.
engine::ReplicaExit ExitOf(const engine::ReplicaKey& key, const launcher::Report& report);

/// The reason of a failed start: the step, the kernel's error, and the file that caused it; where
/// its image is the reason, the image. kUnavailable: too many files are open.
Error StartError(const LiveReplica& replica, const launcher::Report& report);

/// The exit of a replica that did not start. kUnavailable passes, as when too many files are open:
/// the replica counts as lost with its machine. Any other code is an error of the start.
engine::ReplicaExit ExitWithoutStart(const engine::ReplicaKey& key, const Error& why);

/// The log entries about a replica that did not start: none for an error of the start, which the
/// engine reports. `launcher_lives`: caip-launcher still runs.
std::vector<ReplicaOutput::Remark> RemarksWithoutStart(const Error& why, bool launcher_lives);

/// The processes that outlived the main process: "421 sleep 600".
std::vector<std::string> LeftRunning(const launcher::Report& report);

/// Log entries about the end of a replica. They follow its own output.
std::vector<ReplicaOutput::Remark> Remarks(const engine::ReplicaExit& exit,
                                           const launcher::Report& report);

/// The log entry about a replica that has started as root of its machine instead of the user of its
/// image. `error`: the errno with which the kernel has refused the user.
ReplicaOutput::Remark RunsAsRoot(int error);

/// The log entry about a run whose machines have lost their way to other hosts: caip-nat has ended.
ReplicaOutput::Remark LostWayOut(const launcher::Report& report);

/// The log entry about a replica whose disk was full.
ReplicaOutput::Remark DiskWasFull();

/// Counts the processes that the kernel has killed because memory ran out.
class OomCount {
 public:
  /// `ask` returns the kills since the host booted; empty: read /proc/vmstat.
  explicit OomCount(std::function<int64_t()> ask) : ask_(std::move(ask)) {}

  /// Any thread.
  int64_t Now() const;
  /// A count that is at most some milliseconds old. The kernel gathers the numbers from all
  /// processors each time, and the start of a cluster should read them only once. One thread.
  int64_t Recent();

 private:
  std::function<int64_t()> ask_;
  int64_t count_ = 0;
  MonotonicTime read_{};
};

}  // namespace caip::host
