#pragma once
// The texts of what cannot be reported.

#include <string>

#include "base/result.h"

namespace caip::report::errors {

/// kFailedPrecondition.
Error NoTuningJob(const std::string& job);

}  // namespace caip::report::errors
