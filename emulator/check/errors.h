#pragma once
// The errors that keep `caip check` from making its runs.

#include <string>
#include <string_view>

#include "base/result.h"

namespace caip::check::errors {

// Usage (kInvalidArgument).
Error NotABucketFolder(std::string_view word);
Error BucketIsTheJobs(std::string_view bucket);

/// There is no Python to inspect packages with (kNotFound).
Error PythonNotFound();
/// kInternal.
Error PackageInspectionFailed(std::string_view output);

}  // namespace caip::check::errors
