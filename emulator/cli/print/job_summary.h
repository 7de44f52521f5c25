#pragma once
// `jobs describe --summarize`: the tables that gcloud prints of a job.

#include <string>

#include "base/json_fwd.h"

namespace caip::cli {

/// `job` is the API's Job. As in gcloud, a tuning job has no input table
/// (surface/ai_platform/jobs/describe.py).
std::string JobSummary(const Json& job);

}  // namespace caip::cli
