#pragma once
// The worker pools of a migrated job.

#include "base/json_fwd.h"
#include "migration/findings.h"
#include "migration/migration.h"
#include "ml/job.h"

namespace caip::migration {

/// The array workerPoolSpecs. `input` has passed ml::Validate. Position 0 is the master, 1 the
/// workers, 2 the parameter servers, 3 the evaluators; {} stands for a role without replicas before
/// one with.
Json MakePools(const ml::TrainingInput& input, const MigrationOptions& options, Findings& findings);

}  // namespace caip::migration
