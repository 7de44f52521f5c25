#pragma once
// The texts of everything that keeps `caip check` from making its runs.

#include <string>
#include <string_view>

#include "base/result.h"

namespace caip::check::errors {

// Usage (kInvalidArgument).
Error NotABucketFolder(std::string_view word);
Error BucketIsTheJobs(std::string_view bucket);

/// No Python to look at packages with (kNotFound).
Error NoPythonToLookWith();
/// The look at the packages failed (kInternal).
Error PackageLookFailed(std::string_view output);

}  // namespace caip::check::errors
