#pragma once
// A packager whose installations are told to the director, which may let them fail.

#include <memory>

#include "engine/ports.h"
#include "harness/faults/fault_injector.h"

namespace caip::scenario {

/// `inner` and `director` outlive it.
std::unique_ptr<engine::Packager> WatchedPackager(engine::Packager& inner,
                                                  harness::Director& director);

}  // namespace caip::scenario
