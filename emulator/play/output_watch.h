#pragma once
// A log whose lines of replicas are told to the director, as lines or as reports of steps.

#include <atomic>
#include <memory>
#include <string>

#include "engine/ports.h"
#include "harness/director.h"
#include "harness/step_reader.h"

namespace caip::play {

/// `inner`, `director` and `lines` outlive it. `lines` counts what was told.
std::unique_ptr<engine::LogSink> WatchedOutput(engine::LogSink& inner, harness::Director& director,
                                               harness::StepReader steps,
                                               std::atomic<int64_t>& lines);

/// Tells the service's own lines and no others.
std::unique_ptr<engine::LogSink> WatchedServiceLog(engine::LogSink& inner,
                                                   harness::Director& director);

}  // namespace caip::play
