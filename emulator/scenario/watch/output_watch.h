#pragma once
// Logs that report the lines of replicas and of the service to the fault injector.

#include <atomic>
#include <memory>
#include <string>

#include "emulator/scenario/run_observer.h"
#include "engine/ports.h"
#include "harness/events/step_reader.h"
#include "harness/faults/fault_injector.h"

namespace caip::scenario {

/// Reports each line of a replica, as a line or as the report of a step, and counts it in `lines`.
/// All arguments must outlive the result. `observer` may be null.
std::unique_ptr<engine::LogSink> WatchedOutput(engine::LogSink& inner,
                                               harness::FaultInjector& injector,
                                               harness::StepReader steps,
                                               std::atomic<int64_t>& lines, RunObserver* observer);

/// Reports the lines of the service, and no other lines.
std::unique_ptr<engine::LogSink> WatchedServiceLog(engine::LogSink& inner,
                                                   harness::FaultInjector& injector);

}  // namespace caip::scenario
