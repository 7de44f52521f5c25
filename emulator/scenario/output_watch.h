#pragma once
// A log whose lines of replicas are told to the injector, as lines or as reports of steps.

#include <atomic>
#include <memory>
#include <string>

#include "emulator/scenario/onlooker.h"
#include "engine/ports.h"
#include "harness/events/step_reader.h"
#include "harness/faults/fault_injector.h"

namespace caip::scenario {

/// Who else has to do with lines.
struct OutputCompany {
  std::atomic<int64_t>& lines;  // counts what was told
  Onlooker* onlooker = nullptr;
};

/// `inner`, `injector` and the company outlive it.
std::unique_ptr<engine::LogSink> WatchedOutput(engine::LogSink& inner,
                                               harness::FaultInjector& injector,
                                               harness::StepReader steps, OutputCompany company);

/// Tells the service's own lines and no others.
std::unique_ptr<engine::LogSink> WatchedServiceLog(engine::LogSink& inner,
                                                   harness::FaultInjector& injector);

}  // namespace caip::scenario
