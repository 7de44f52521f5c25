#pragma once
// A log entry of a job: as the book stores it, and as the Logging API shows it.

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/json_fwd.h"

namespace caip::logging {

/// A log entry of a job. The book assigns `insert_id`.
struct Entry {
  std::string project;
  std::string job_id;
  std::string trial;  // "" outside hyperparameter tuning
  std::string task;   // "service", "master-replica-0", ...
  std::string severity;
  Instant timestamp;
  std::string message;
  std::string pathname;  // "" unknown
  int lineno = 0;        // 0 unknown
  std::string thread;    // "" unknown
  uint64_t insert_id = 0;
};

/// An insert id as clients see it: sixteen digits, so that ids also sort as text.
std::string InsertIdText(uint64_t insert_id);
/// The number of an insert id of a job's entry. 0 for "" and for any other text; every entry comes
/// after 0.
uint64_t ParseInsertId(const std::string& text);
/// The insert id that a client's entry gets if the client gave none. Never equals a job entry's.
std::string WrittenInsertIdText(uint64_t number);

/// "projects/p".
std::string ProjectParent(const std::string& project);
/// The id of the log that holds the entries of a job's task: the task's name, or the job's own log
/// for lines of the service.
std::string LogIdOfTask(const std::string& task, const std::string& job_id);

/// The entry as a LogEntry of the Logging API. A replica's line has a jsonPayload, as the service's
/// launcher writes it; a line of the service has a textPayload.
Json LogEntryJson(const Entry& entry);

}  // namespace caip::logging
