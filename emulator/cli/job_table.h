#pragma once
// The table of `jobs list`: JOB_ID, STATUS, CREATED.

#include <string>
#include <vector>

#include "base/json_fwd.h"

namespace caip::cli {

/// Columns two blanks apart, the last not padded, CREATED in local time: as gcloud prints it.
std::string JobTable(const std::vector<Json>& jobs);

}  // namespace caip::cli
