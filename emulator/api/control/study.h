#pragma once
// A tuning job with all reports of its trials: caip's own method, for `caip jobs trials`.

#include "base/clock.h"
#include "engine/engine.h"
#include "http/router.h"

namespace caip::api {

/// GET /emulator/v1/projects/{project}/jobs/{job}/trials ->
///   {"job": Job with times of nanoseconds, "metric": tag, "now": time,
///    "measurements": {"1": [{"step": 10, "value": 0.9, "time": 1574000000.12}]}}
/// Values that are not JSON numbers are "NaN", "Infinity" and "-Infinity".
std::vector<http::Route> StudyRoutes(engine::Engine& engine, const Clock& clock);

}  // namespace caip::api
