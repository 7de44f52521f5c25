#pragma once
// Identifies the replica that sent a request, and reports calls of the job API.

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "engine/ports.h"
#include "harness/faults/fault_injector.h"
#include "http/message.h"

namespace caip::scenario {

/// The replica that sent a request.
struct Caller {
  std::string replica;      // "master-0"; "" for clients that are not replicas
  bool reads_count = true;  // false for the reads of a copy
};

/// The caller of the request that this thread answers. Null outside a request.
const Caller* CurrentCaller();

/// The machines of replicas, which share a listener: their addresses tell them apart. Any thread.
class MachineCallers {
 public:
  /// Learns the address of a replica that has a machine.
  void Learn(const engine::ReplicaLaunch& launch);
  /// "master-0"; "" if no machine sent the request.
  std::string ReplicaOf(const http::Request& request) const;

 private:
  mutable std::mutex mutex_;
  /// By the tag of the listener and the address.
  std::map<std::pair<std::string, std::string>, std::string> replicas_;
};

/// A handler that sets CurrentCaller while `next` answers. The replica is identified by its
/// machine, or by its own listener (emulator/front/metadata_launcher.h). `machines` must outlive
/// it.
http::Handler WithCallers(http::Handler next, const MachineCallers& machines);

/// A handler that reports calls of the job API to the injector, which may delay or refuse them.
/// Calls of a dead replica are refused. `injector` must outlive it.
http::Handler WatchedJobApi(http::Handler next, harness::FaultInjector& injector);

}  // namespace caip::scenario
