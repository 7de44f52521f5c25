#pragma once
// The job API with its calls told to the injector, which may refuse them.

#include "harness/faults/fault_injector.h"
#include "http/message.h"

namespace caip::scenario {

/// `injector` outlives it. Calls of other APIs pass untold.
http::Handler WatchedJobApi(http::Handler next, harness::FaultInjector& injector);

}  // namespace caip::scenario
