#include "host/store/stored_job.h"

#include <utility>

#include "base/json.h"
#include "base/time_text.h"
#include "host/errors.h"

namespace caip::host {
namespace {

constexpr int kNanosecondDigits = 9;

// Members that the engine adds. The documents of APIs do not have them.
constexpr const char* kState = "state";
constexpr const char* kCreateTime = "createTime";
constexpr const char* kStartTime = "startTime";
constexpr const char* kEndTime = "endTime";
constexpr const char* kErrorMessage = "errorMessage";
constexpr const char* kEndCause = "endCause";
constexpr const char* kApi = "api";
constexpr const char* kLocation = "location";

void PutTime(Json& stored, const char* name, const std::optional<Instant>& time) {
  if (time) stored[name] = Rfc3339(*time, kNanosecondDigits);
}

// Removes a member from the document and returns it.
std::string TakeText(Json& stored, const char* name) {
  std::string text = StringOr(stored, name);
  stored.erase(name);
  return text;
}

// False if the member is not a time.
bool TakeTime(Json& stored, const char* name, std::optional<Instant>& time) {
  if (!stored.contains(name)) return true;
  time = ParseRfc3339(TakeText(stored, name));
  return time.has_value();
}

}  // namespace

std::string StoredJobText(const run::Job& job) {
  Json stored = *job.document;
  stored[kState] = run::Name(job.state);
  PutTime(stored, kCreateTime, job.create_time);
  PutTime(stored, kStartTime, job.start_time);
  PutTime(stored, kEndTime, job.end_time);
  if (!job.error_message.empty()) stored[kErrorMessage] = job.error_message;
  if (job.end_cause != run::EndCause::kNone) stored[kEndCause] = run::Name(job.end_cause);
  if (!job.api.empty()) stored[kApi] = job.api;
  if (!job.key.location.empty()) stored[kLocation] = job.key.location;
  return CompactJson(stored);
}

Result<run::Job> ParseStoredJob(run::RunKey key, std::string_view text) {
  ASSIGN_OR_RETURN(Json stored, ParseJson(text));
  if (!stored.is_object()) return errors::StoredJobMalformed("the document");
  run::Job job;
  job.key = std::move(key);
  job.api = TakeText(stored, kApi);
  job.key.location = TakeText(stored, kLocation);
  const auto state = run::JobStateNamed(TakeText(stored, kState));
  if (!state) return errors::StoredJobMalformed(kState);
  job.state = *state;
  if (!TakeTime(stored, kCreateTime, job.create_time)) {
    return errors::StoredJobMalformed(kCreateTime);
  }
  if (!TakeTime(stored, kStartTime, job.start_time)) return errors::StoredJobMalformed(kStartTime);
  if (!TakeTime(stored, kEndTime, job.end_time)) return errors::StoredJobMalformed(kEndTime);
  job.error_message = TakeText(stored, kErrorMessage);
  job.end_cause = run::EndCauseNamed(TakeText(stored, kEndCause));
  job.document = std::make_shared<const Json>(std::move(stored));
  return job;
}

}  // namespace caip::host
