#pragma once
// A packager whose installations are told to the injector, which may let them fail.

#include <memory>

#include "engine/ports.h"
#include "harness/faults/fault_injector.h"

namespace caip::scenario {

/// `injector` outlives it.
std::unique_ptr<engine::Packager> WatchedPackager(std::unique_ptr<engine::Packager> inner,
                                                  harness::FaultInjector& injector);

}  // namespace caip::scenario
