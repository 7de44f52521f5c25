#pragma once
// All log entries, in one SQLite file: <state>/logs.db. Those of jobs come by hundreds of thousands
// a second and share rows; what clients write has a row for each entry.
//
//   chunks(first_id, last_id, project, job_id, first_time, last_time, severities, tasks, entries)
//   written(id, parent, log, time, insert_id, job_id, severity, entry)
//
// A chunk holds up to some hundreds of consecutive entries of one job; `entries` is text, one JSON
// object a line; time, severity, task and trial are left out where they are as in the line before.
// Entry n of a chunk has the insert id first_id + n; times are nanoseconds; an empty line was
// deleted. A written `entry` is a LogEntry as clients see it.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "fakes/logging/book/entry_listing.h"
#include "fakes/logging/book/written_rows.h"

namespace caip::logging {

/// A log entry. `insert_id` is given by the book.
struct Entry {
  std::string project;
  std::string job_id;
  std::string trial;  // "" outside tuning
  std::string task;   // "service", "master-replica-0", ...
  std::string severity;
  Instant timestamp;
  std::string message;
  std::string pathname;  // "" unknown
  int lineno = 0;        // 0 unknown
  std::string thread;    // "" unknown
  uint64_t insert_id = 0;
};

/// The insert id as clients see it: sixteen digits, so that it grows as text, too.
std::string InsertIdText(uint64_t insert_id);
/// As NewInsertId() makes it.
std::string WrittenInsertIdText(uint64_t number);
/// 0 for what is no insert id ("" is before the first).
uint64_t InsertIdOf(const std::string& text);

/// What to read of a job. All conditions hold at once.
struct EntryQuery {
  std::string project;
  std::string job_id;     // "": all jobs of the project
  std::string task;       // "": all
  uint64_t after_id = 0;  // insert id is greater
  Instant from = Instant::min();
  Instant until = Instant::max();                  // exclusive
  std::function<bool(const Entry&)> matches = {};  // any further condition
  size_t limit = 1000;
  bool newest_first = false;
};

/// The book. Any thread may call anything. In the file, insert ids grow over the whole book, for
/// ever; within a job, times never go back (an entry that is late gets the time of the one before).
class LogBook {
 public:
  /// Entries that are waiting to be stored, in bytes; then Append waits. While the disk is full,
  /// this much is kept in memory.
  static constexpr size_t kWaitingBytesMax = 64u << 20;

  /// Opens or makes the file. kDataLoss: it is damaged or no log book, and what to do about it.
  static Result<std::unique_ptr<LogBook>> Open(const Path& file);
  LogBook(const LogBook&) = delete;
  LogBook& operator=(const LogBook&) = delete;
  ~LogBook();  // stores what was appended

  /// Returns at once, as a rule: a thread of the book's stores entries in groups, 20 ms apart at
  /// most. Waits while kWaitingBytesMax are waiting.
  void Append(std::vector<Entry> entries);
  /// What clients write: on disk and to be read when this returns. An entry with the time and the
  /// insert id of another under its parent is that one again, and not stored.
  Status Write(std::vector<WrittenEntry> entries);
  /// An insert id for an entry whose writer gave none: grows, and none of a job's.
  std::string NewInsertId();
  /// Takes all entries that a log has now, at once. kNotFound: there is no such log.
  Status DeleteLog(const LogKey& log);

  /// Returns when all that was appended is on disk and can be read. An Error says why it cannot get
  /// there (the disk is full); nothing is lost by it, the book keeps trying.
  Status Flush();
  /// Ok, or what stands in the way of storing at present.
  Status Health() const;

  /// Of jobs and of clients, as LogEntries.
  Result<ListPage> List(const ListQuery& query) const;
  /// A page of the ids of a parent's logs, in their order, behind `after`.
  Result<std::vector<std::string>> LogIds(const std::string& parent, const std::string& after,
                                          size_t limit) const;

  Result<std::vector<Entry>> Query(const EntryQuery& query) const;
  /// The job's entries behind `after_id`, oldest first: how a follower reads on.
  Result<std::vector<Entry>> ReadAfter(const std::string& project, const std::string& job_id,
                                       uint64_t after_id, size_t limit = 1000) const;
  /// True as soon as the job has an entry behind `after_id`; false after `timeout`, or when
  /// `other`, looked at whenever followers are woken, holds.
  bool WaitForMore(const std::string& project, const std::string& job_id, uint64_t after_id,
                   std::chrono::milliseconds timeout,
                   const std::function<bool()>& other = {}) const;
  /// How often something was stored; waits until that is not `seen` any more, or for `timeout`.
  uint64_t WaitForChange(uint64_t seen, std::chrono::milliseconds timeout) const;
  /// Makes those who wait look at their `other`.
  void WakeFollowers() const;

 private:
  class Core;
  explicit LogBook(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

}  // namespace caip::logging
