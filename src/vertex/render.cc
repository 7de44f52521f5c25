#include "vertex/render.h"

#include <optional>
#include <utility>

#include "base/json.h"
#include "google/transcoder.h"
#include "vertex/document.h"
#include "vertex/errors.h"
#include "vertex/resource_names.h"
#include "vertex/schema/custom_job_schema.h"
#include "vertex/schema/training_pipeline_schema.h"

namespace caip::vertex {
namespace {

constexpr int kFractionDigits = 6;
constexpr std::string_view kStatePrefix = "JOB_STATE_";

void PutTime(Json& plain, const char* name, const std::optional<Instant>& time) {
  if (time) plain[name] = time->time_since_epoch().count();
}

// The engine records no other change than these.
std::optional<Instant> UpdateTimeOf(const run::Job& job) {
  if (job.end_time) return job.end_time;
  return job.start_time ? job.start_time : job.create_time;
}

bool HasError(run::JobState state) {
  return state == run::JobState::kFailed || state == run::JobState::kCancelled;
}

Result<StoredCustomJob> ReadStored(const run::Job& job) {
  Result<StoredCustomJob> stored = ReadDocument(job.document);
  if (stored.ok()) return stored;
  return errors::StoredJobUnreadable(job.key.project + "/" + job.key.job_id, stored.error());
}

std::string NameOf(const run::Job& job, const RenderOptions& options, std::string_view collection,
                   std::string_view id) {
  return Text({options.project_number.empty() ? job.key.project : options.project_number,
               job.key.location, std::string(collection), std::string(id)});
}

// What both resources show of the run.
void PutRun(Json& plain, const run::Job& job, Code error) {
  PutTime(plain, "create_time", job.create_time);
  PutTime(plain, "start_time", job.start_time);
  PutTime(plain, "end_time", job.end_time);
  PutTime(plain, "update_time", UpdateTimeOf(job));
  if (!HasError(job.state)) return;
  plain["error"] = Json{{"code", static_cast<int>(error)}, {"message", job.error_message}};
}

google::WriteStyle StyleOf(const RenderOptions& options) {
  return {
      .camel_case = true, .fraction_digits = kFractionDigits, .enum_numbers = options.enum_numbers};
}

}  // namespace

std::string PipelineStateName(run::JobState state, bool has_queue) {
  return "PIPELINE_STATE_" +
         std::string(JobStateName(state, has_queue).substr(kStatePrefix.size()));
}

std::string_view JobStateName(run::JobState state, bool has_queue) {
  switch (state) {
    case run::JobState::kUnspecified:
      return "JOB_STATE_UNSPECIFIED";
    case run::JobState::kQueued:
      return has_queue ? "JOB_STATE_QUEUED" : "JOB_STATE_PENDING";
    case run::JobState::kPreparing:
      return "JOB_STATE_PENDING";
    case run::JobState::kRunning:
      return "JOB_STATE_RUNNING";
    case run::JobState::kSucceeded:
      return "JOB_STATE_SUCCEEDED";
    case run::JobState::kFailed:
      return "JOB_STATE_FAILED";
    case run::JobState::kCancelling:
      return "JOB_STATE_CANCELLING";
    case run::JobState::kCancelled:
      return "JOB_STATE_CANCELLED";
  }
  return "JOB_STATE_UNSPECIFIED";
}

Code ErrorCodeOf(run::EndCause cause, bool is_spot) {
  switch (cause) {
    case run::EndCause::kNone:
      return Code::kOk;
    case run::EndCause::kReplicaFailed:
    case run::EndCause::kTrialsFailed:
      return Code::kInvalidArgument;
    case run::EndCause::kOutOfMemory:
    case run::EndCause::kOutOfStock:
      return Code::kResourceExhausted;
    case run::EndCause::kMachineLost:
      return is_spot ? Code::kResourceExhausted : Code::kInternal;
    case run::EndCause::kServiceError:
      return Code::kInternal;
    case run::EndCause::kRefused:
      return Code::kFailedPrecondition;
    case run::EndCause::kWaitedTooLong:
    case run::EndCause::kRanTooLong:
      return Code::kDeadlineExceeded;
    case run::EndCause::kCancelled:
      return Code::kCancelled;
  }
  return Code::kUnknown;
}

Result<Json> RenderCustomJob(const run::Job& job, const RenderOptions& options) {
  ASSIGN_OR_RETURN(StoredCustomJob stored, ReadStored(job));
  const Code error = ErrorCodeOf(job.end_cause, stored.job.spec->scheduling.IsSpot());
  Json plain = std::move(stored.job.plain);
  plain["name"] = NameOf(job, options, kCustomJobs, job.key.job_id);
  plain["state"] = JobStateName(job.state, options.has_queue);
  PutRun(plain, job, error);
  return google::WriteMessage(plain, CustomJobSchema(), StyleOf(options));
}

Result<Json> RenderTrainingPipeline(const run::Job& job, const RenderOptions& options) {
  ASSIGN_OR_RETURN(StoredCustomJob stored, ReadStored(job));
  if (!stored.pipeline) return errors::PipelineNotFound();
  const Code error = ErrorCodeOf(job.end_cause, stored.job.spec->scheduling.IsSpot());
  Json plain = std::move(stored.pipeline->plain);
  plain["name"] = NameOf(job, options, kTrainingPipelines, stored.pipeline->id);
  plain["training_task_metadata"] =
      Json{{"backingCustomJob", NameOf(job, options, kCustomJobs, job.key.job_id)}};
  plain["state"] = PipelineStateName(job.state, options.has_queue);
  PutRun(plain, job, error);
  return google::WriteMessage(plain, TrainingPipelineSchema(), StyleOf(options));
}

}  // namespace caip::vertex
