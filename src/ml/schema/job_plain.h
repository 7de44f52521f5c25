#pragma once
// Job <-> the plain tree of transcoder.h. Private to job_json.

#include "base/json_fwd.h"
#include "ml/job.h"
#include "ml/schema/job_schema.h"

namespace caip::ml {

/// `plain` was read by JobSchema() without a violation.
Job JobFromPlain(const Json& plain);
Json PlainFromJob(const Job& job);
Json PlainFromTrainingInput(const TrainingInput& input);

}  // namespace caip::ml
