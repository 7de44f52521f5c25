#include "vertex/render.h"

#include <optional>
#include <utility>

#include "base/json.h"
#include "google/transcoder.h"
#include "vertex/document.h"
#include "vertex/errors.h"
#include "vertex/resource_names.h"
#include "vertex/schema/custom_job_schema.h"

namespace caip::vertex {
namespace {

constexpr int kFractionDigits = 6;

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

}  // namespace

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
  Result<StoredCustomJob> stored = ReadDocument(job.document);
  if (!stored.ok()) {
    return errors::StoredJobUnreadable(job.key.project + "/" + job.key.job_id, stored.error());
  }
  const bool is_spot = stored->job.spec->scheduling.IsSpot();
  Json plain = std::move(stored->job.plain);
  plain["name"] =
      CustomJobName(options.project_number.empty() ? job.key.project : options.project_number,
                    job.key.location, job.key.job_id);
  plain["state"] = JobStateName(job.state, options.has_queue);
  PutTime(plain, "create_time", job.create_time);
  PutTime(plain, "start_time", job.start_time);
  PutTime(plain, "end_time", job.end_time);
  PutTime(plain, "update_time", UpdateTimeOf(job));
  if (HasError(job.state)) {
    plain["error"] = Json{{"code", static_cast<int>(ErrorCodeOf(job.end_cause, is_spot))},
                          {"message", job.error_message}};
  }
  return google::WriteMessage(plain, CustomJobSchema(),
                              {.camel_case = true,
                               .fraction_digits = kFractionDigits,
                               .enum_numbers = options.enum_numbers});
}

}  // namespace caip::vertex
