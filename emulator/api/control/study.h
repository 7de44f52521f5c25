#pragma once
// A tuning job with all that its trials have reported: ours, for `caip jobs trials`.

#include "base/clock.h"
#include "engine/engine.h"
#include "http/router.h"

namespace caip::api {

/// GET /emulator/v1/projects/{project}/jobs/{job}/trials ->
///   {"job": Job with times of nanoseconds, "metric": tag, "now": time,
///    "measurements": {"1": [{"step": 10, "value": 0.9, "time": 1574000000.12}]}}
/// Values that JSON has no number for are "NaN", "Infinity" and "-Infinity".
std::vector<http::Route> StudyRoutes(engine::Engine& engine, const Clock& clock);

}  // namespace caip::api
