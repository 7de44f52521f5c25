#pragma once
// The errors that keep `caip check` from making its runs.

#include <string>
#include <string_view>

#include "base/result.h"

namespace caip::check::errors {

/// A flag that jobs of this kind do not have. `owners` are those that have it.
Error FlagOfOtherJob(std::string_view flag, std::string_view owners, std::string_view kind);

// Usage (kInvalidArgument).
Error NotABucketFolder(std::string_view word);
Error BucketIsTheJobs(std::string_view bucket);

/// The Python of this host lacks a module of the job's software (kUnimplemented). `software` is the
/// subject of a sentence. `runtime_version` "": the software is not a runtime version.
Error RuntimeModuleMissing(std::string_view module, std::string_view software,
                           std::string_view runtime_version);

/// There is no Python to inspect packages with (kNotFound).
Error PythonNotFound();
/// kInternal.
Error PackageInspectionFailed(std::string_view output);

}  // namespace caip::check::errors
