#include "fakes/logging/book/job_entry.h"

#include "base/encoding.h"
#include "base/json.h"
#include "base/time_text.h"
#include "fakes/logging/book/written_rows.h"

namespace caip::logging {
namespace {

Json PayloadOf(const Entry& entry) {
  const double seconds =
      std::chrono::duration<double>(
          std::chrono::floor<std::chrono::microseconds>(entry.timestamp.time_since_epoch()))
          .count();
  Json payload = {{"message", entry.message}, {"levelname", entry.severity}, {"created", seconds}};
  if (!entry.pathname.empty()) payload["pathname"] = entry.pathname;
  if (entry.lineno != 0) payload["lineno"] = entry.lineno;
  if (!entry.thread.empty()) payload["thread"] = entry.thread;
  return payload;
}

}  // namespace

Json LogEntryOf(const Entry& entry) {
  const std::string time = Rfc3339(entry.timestamp, 9);
  const std::string log_id = LogIdOfTask(entry.task, entry.job_id);
  Json labels = {{"ml.googleapis.com/job_id", entry.job_id},
                 {"ml.googleapis.com/job_id/log_area", "root"},
                 {"ml.googleapis.com/task_name", entry.task}};
  if (!entry.trial.empty()) labels["ml.googleapis.com/trial_id"] = entry.trial;
  Json json = {
      {"insertId", InsertIdText(entry.insert_id)},
      {"logName", ParentOfProject(entry.project) + "/logs/" + PercentEncoded(log_id)},
      {"resource",
       {{"type", "ml_job"},
        {"labels",
         {{"job_id", entry.job_id}, {"project_id", entry.project}, {"task_name", entry.task}}}}},
      {"timestamp", time},
      {"receiveTimestamp", time},
      {"severity", entry.severity.empty() ? "DEFAULT" : entry.severity},
      {"labels", std::move(labels)}};
  if (entry.task == "service") {
    json["textPayload"] = entry.message;
  } else {
    json["jsonPayload"] = PayloadOf(entry);
  }
  return json;
}

}  // namespace caip::logging
