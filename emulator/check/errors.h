#pragma once
// The errors that keep `caip check` from making its runs.

#include <string>
#include <string_view>

#include "base/result.h"

namespace caip::check::errors {

/// A flag that only the other kind of job has: a custom job of Vertex AI, or a training job.
Error FlagOfOtherJob(std::string_view flag, bool is_of_custom_jobs);

// Usage (kInvalidArgument).
Error NotABucketFolder(std::string_view word);
Error BucketIsTheJobs(std::string_view bucket);

/// There is no Python to inspect packages with (kNotFound).
Error PythonNotFound();
/// kInternal.
Error PackageInspectionFailed(std::string_view output);

}  // namespace caip::check::errors
