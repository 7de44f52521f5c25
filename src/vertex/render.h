#pragma once
// The resources of jobs as a client sees them, made of what the engine knows.

#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"
#include "run/job.h"

namespace caip::vertex {

struct RenderOptions {
  std::string project_number = {};  // stands in names; "" the project as the job has it
  bool enum_numbers = false;        // `$alt=json;enum-encoding=int`
  /// Jobs wait for a delay or for other jobs. Without a queue, a job without accelerators is in the
  /// engine's queue for a moment only, and is shown as PENDING.
  bool has_queue = false;
};

/// The job as API JSON, with its name, state, times and error. kDataLoss: its document cannot be
/// read.
Result<Json> RenderCustomJob(const run::Job& job, const RenderOptions& options);

/// The tuning job with its trials, by number. kDataLoss: its document cannot be read.
Result<Json> RenderTuningJob(const run::Job& job, const RenderOptions& options);

/// The pipeline that has made the job. kNotFound: none has.
Result<Json> RenderTrainingPipeline(const run::Job& job, const RenderOptions& options);

/// Whether a job that is in the engine's queue is shown as QUEUED: it waits in a queue, or for
/// accelerators that other jobs have.
bool ShowsQueue(const run::Job& job, bool has_queue);

/// "JOB_STATE_PENDING": the name of the engine's state (docs/service/vertex.md, section 4).
std::string_view JobStateName(run::JobState state, bool has_queue);

/// "PIPELINE_STATE_PENDING", likewise.
std::string PipelineStateName(run::JobState state, bool has_queue);

/// "ACTIVE": the state of a trial. `is_cancelling`: its job is being cancelled.
std::string_view TrialStateName(run::JobState state, bool is_cancelling);

/// The google.rpc.Code of a job that ended so; kOk for one without an error.
Code ErrorCodeOf(run::EndCause cause, bool is_spot);

}  // namespace caip::vertex
