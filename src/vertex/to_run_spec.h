#pragma once
// What a custom job asks the engine to run.

#include <string>

#include "run/run_spec.h"
#include "vertex/catalog/catalog.h"
#include "vertex/custom_job.h"

namespace caip::vertex {

/// `spec` has passed Validate.
run::RunSpec ToRunSpec(const CustomJobSpec& spec, const std::string& region,
                       const Catalog& catalog);

}  // namespace caip::vertex
