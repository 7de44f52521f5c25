#pragma once
// The CustomJob resource as a client sees it, made of what the engine knows.

#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"
#include "run/job.h"
#include "vertex/custom_job.h"

namespace caip::vertex {

struct RenderOptions {
  std::string project_number;  // stands in names; "" the project as the job has it
  bool enum_numbers = false;   // `$alt=json;enum-encoding=int`
};

/// The job as API JSON, with its name, state, times and error. kDataLoss: its document cannot be
/// read.
Result<Json> RenderCustomJob(const run::Job& job, const RenderOptions& options);

/// The document that the engine keeps of a job that a client has sent.
run::Document DocumentOf(const CustomJob& job);

/// "JOB_STATE_PENDING": the name of the engine's state (docs/service/vertex.md, section 4).
std::string_view JobStateName(run::JobState state);

}  // namespace caip::vertex
