#pragma once
// A log entry of a job: as the book stores it, and as the Logging API shows it.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/json_fwd.h"

namespace caip::logging {

/// A log entry of a job. The book assigns `insert_id`.
struct Entry {
  /// What clients see of it.
  enum class Form {
    kRecord,  // a jsonPayload with the message and the place that logged it
    kText,    // a textPayload
    kObject,  // a jsonPayload: the JSON object that the message is
  };
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
  Form form = Form::kRecord;
  uint64_t insert_id = 0;
};

/// An insert id as clients see it: sixteen digits, so that ids also sort as text.
std::string InsertIdText(uint64_t insert_id);
/// The number of an insert id of a job's entry. 0 for any other text; every entry has a larger id.
uint64_t ParseInsertId(const std::string& text);
/// The insert id that a client's entry gets if the client gave none. Never equals a job entry's.
std::string WrittenInsertIdText(uint64_t number);

/// "projects/p".
std::string ProjectParent(const std::string& project);
/// How the entries of jobs appear in the Logging API. The owner of the jobs chooses the names.
struct JobLogNames {
  std::string resource_type;  // "ml_job"
  std::string service;        // "ml.googleapis.com": prefix of labels and of a job's own log
};

/// The id of the log that holds the entries of a job's task: the task's name, or the job's own log
/// for lines of the service.
std::string LogIdOfTask(const JobLogNames& names, const std::string& task,
                        const std::string& job_id);

/// The entry as a LogEntry of the Logging API. A line of the service has a textPayload, whatever
/// its form.
Json LogEntryJson(const JobLogNames& names, const Entry& entry);

// An entry as a line of JSON. Written for speed: jobs print hundreds of thousands of lines a
// second.

/// Writes entries. Remembers the members of the previous entry, so that a line repeats none of
/// them, and the text of the last second, which most entries share. One thread.
class EntryWriter {
 public:
  /// Starts a chunk: the next line has all members.
  void Begin() { previous_.reset(); }

  /// Appends {"time":"...","severity":"...","task":"...","trial":"...","message":"..."} and a
  /// newline to `text`. The first four are omitted if they equal those of the line before; the
  /// others are omitted if they are empty, and the form if it is a record. The chunk has the
  /// project, the job and the insert id.
  void Write(const Entry& entry, Instant time, std::string& text);

 private:
  struct Common {
    Instant time;
    std::string severity;
    std::string task;
    std::string trial;
  };

  void WriteTime(Instant time, std::string& text);

  std::optional<Common> previous_;
  std::chrono::sys_seconds second_ = std::chrono::sys_seconds::min();
  std::string second_text_;  // "2022-02-09T17:36:42"
};

/// Reads only the members that lines share: severity, task and trial into `common`, which holds
/// those of the line before, and the time's text into `time`. False: only ReadEntry can read this
/// line.
bool ReadCommon(std::string_view line, Entry& common, std::string_view& time);

/// Reads a line; `previous` is the entry of the line before, nullptr for the first. False if the
/// line is not an entry.
bool ReadEntry(std::string_view line, const Entry* previous, Entry& entry);

}  // namespace caip::logging
