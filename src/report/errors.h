#pragma once
// The errors of reports.

#include <string>

#include "base/result.h"

namespace caip::report::errors {

/// kFailedPrecondition: the job is not a tuning job.
Error NoTuningJob(const std::string& job);

}  // namespace caip::report::errors
