#pragma once
// What to do if a job failed because Python did not find a module.

#include <string>

#include "base/json_fwd.h"

namespace caip::cli {

/// `job` is the API's Job. "": it failed for another reason, or it runs an image. A
/// framework of the job's runtime version gets another remedy than other modules, and so does a
/// module of the job's own package.
std::string MissingModuleHint(const Json& job);

}  // namespace caip::cli
