#pragma once
// Identifies the replica that sent a request, and reports calls of the job API.

#include <string>

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

/// A handler that sets CurrentCaller while `next` answers. The listener of a request identifies the
/// replica (emulator/front/metadata_launcher.h).
http::Handler WithCallers(http::Handler next);

/// A handler that reports calls of the job API to the injector, which may refuse them. `injector`
/// must outlive it.
http::Handler WatchedJobApi(http::Handler next, harness::FaultInjector& injector);

}  // namespace caip::scenario
