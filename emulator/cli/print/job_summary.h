#pragma once
// `jobs describe --summarize`: the tables that gcloud prints of a job.

#include <string>

#include "base/json_fwd.h"

namespace caip::cli {

/// `job` is the API's Job. For tuning jobs the input table is the one of predictions, as gcloud has
/// it (surface/ai_platform/jobs/describe.py).
std::string JobSummary(const Json& job);

}  // namespace caip::cli
