#include "fakes/logging/book/entry.h"

#include <chrono>
#include <cstdio>

#include "base/encoding.h"
#include "base/json.h"
#include "base/time_text.h"

namespace caip::logging {
namespace {

Json JobLinePayload(const Entry& entry) {
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

std::string InsertIdText(uint64_t insert_id) {
  char text[24];
  std::snprintf(text, sizeof text, "%016llu", static_cast<unsigned long long>(insert_id));
  return text;
}

uint64_t ParseInsertId(const std::string& text) {
  if (text.empty() || text.size() > 16) return 0;
  uint64_t insert_id = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9') return 0;
    insert_id = insert_id * 10 + static_cast<uint64_t>(digit - '0');
  }
  return insert_id;
}

std::string WrittenInsertIdText(uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "w%015llx", static_cast<unsigned long long>(number));
  return text;
}

std::string ProjectParent(const std::string& project) { return "projects/" + project; }

std::string LogIdOfTask(const std::string& task, const std::string& job_id) {
  return task == "service" ? "ml.googleapis.com/" + job_id : task;
}

Json LogEntryJson(const Entry& entry) {
  const std::string time = Rfc3339(entry.timestamp, 9);
  const std::string log_id = LogIdOfTask(entry.task, entry.job_id);
  Json labels = {{"ml.googleapis.com/job_id", entry.job_id},
                 {"ml.googleapis.com/job_id/log_area", "root"},
                 {"ml.googleapis.com/task_name", entry.task}};
  if (!entry.trial.empty()) labels["ml.googleapis.com/trial_id"] = entry.trial;
  Json json = {
      {"insertId", InsertIdText(entry.insert_id)},
      {"logName", ProjectParent(entry.project) + "/logs/" + PercentEncoded(log_id)},
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
    json["jsonPayload"] = JobLinePayload(entry);
  }
  return json;
}

}  // namespace caip::logging
