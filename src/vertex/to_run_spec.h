#pragma once
// What a job asks the engine to run.

#include <string>

#include "run/run_spec.h"
#include "vertex/catalog/catalog.h"
#include "vertex/custom_job.h"
#include "vertex/tuning_job.h"

namespace caip::vertex {

/// `spec` has passed Validate.
run::RunSpec ToRunSpec(const CustomJobSpec& spec, const std::string& region,
                       const Catalog& catalog);

/// The same for all trials of a tuning job, and how it finds their values. `job` has passed
/// ValidateTuning.
run::RunSpec ToRunSpec(const TuningJob& job, const std::string& region, const Catalog& catalog);

}  // namespace caip::vertex
