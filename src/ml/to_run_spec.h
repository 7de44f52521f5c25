#pragma once
// What a training job asks the engine to run.

#include "ml/job.h"
#include "ml/validate/validate.h"
#include "run/run_spec.h"

namespace caip::ml {

/// `input` has passed Validate and has its defaults.
run::RunSpec ToRunSpec(const TrainingInput& input, const ValidationOptions& options);

}  // namespace caip::ml
