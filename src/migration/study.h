#pragma once
// The search of a migrated tuning job.

#include "base/json_fwd.h"
#include "migration/findings.h"
#include "ml/job.h"

namespace caip::migration {

/// The studySpec. `spec` has passed ml::Validate.
Json MakeStudy(const ml::HyperparameterSpec& spec, Findings& findings);

}  // namespace caip::migration
