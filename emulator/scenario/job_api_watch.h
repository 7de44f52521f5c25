#pragma once
// The job API with its calls told to the director, which may refuse them.

#include "harness/faults/fault_injector.h"
#include "http/message.h"

namespace caip::scenario {

/// `director` outlives it. Calls of other APIs pass untold.
http::Handler WatchedJobApi(http::Handler next, harness::Director& director);

}  // namespace caip::scenario
