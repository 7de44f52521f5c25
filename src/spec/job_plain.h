#pragma once
// Job <-> the plain tree of transcoder.h. Private to job_json.

#include "base/json_fwd.h"
#include "spec/job.h"

namespace caip::spec {

/// `plain` was read by JobSchema() without a violation.
Job JobFromPlain(const Json& plain);
Json PlainFromJob(const Job& job);
Json PlainFromTrainingInput(const TrainingInput& input);

}  // namespace caip::spec
