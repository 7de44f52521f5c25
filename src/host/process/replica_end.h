#pragma once
// Turns what caip-launcher reports about a replica's end into an exit for the engine and entries
// for the log. Pure, but for a look at the program that could not be started.

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "engine/ports.h"
#include "host/launcher/protocol.h"
#include "host/process/replica_output.h"

namespace caip::host {

/// Exit code or signal, from the native status.
engine::ReplicaExit ExitOf(const engine::ReplicaKey& key, const launcher::Report& report);

/// Why a start failed: what was to be done, the kernel's reason, and the culprit.
std::string StartError(const std::string& program, const std::string& directory,
                       const launcher::Report& report);

/// The processes that outlived the main one: "421 sleep 600".
std::vector<std::string> LeftRunning(const launcher::Report& report);

/// What the log should say of the end beyond what the replica printed.
std::vector<ReplicaOutput::Remark> Remarks(const engine::ReplicaExit& exit,
                                           const launcher::Report& report);

// How many processes the kernel has killed because memory ran out.

class OomCount {
 public:
  /// `ask` counts the kills since the host booted; empty: /proc/vmstat does.
  explicit OomCount(std::function<int64_t()> ask) : ask_(std::move(ask)) {}

  /// Any thread.
  int64_t Now() const;
  /// The count of some milliseconds ago at most: the kernel gathers the numbers from all processors
  /// each time, and a cluster that starts needs to ask only once. One thread.
  int64_t Recent();

 private:
  std::function<int64_t()> ask_;
  int64_t count_ = 0;
  MonotonicTime read_{};
};

}  // namespace caip::host
