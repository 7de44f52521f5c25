#pragma once
// All log entries, in one SQLite file: <state>/logs.db. Jobs append hundreds of thousands of
// entries a second, so their entries share rows. An entry that a client writes has its own row.
//
//   chunks(first_id, last_id, project, job_id, first_time, last_time, severities, tasks, entries)
//   written(id, parent, log, time, insert_id, job_id, severity, entry)
//
// A chunk holds up to 512 consecutive entries of one job. `entries` is text, one JSON object a
// line; time, severity, task and trial are omitted if they equal those of the line before. Entry n
// of a chunk has the insert id first_id + n. Times are nanoseconds. An empty line stands for a
// deleted entry. A written `entry` is a LogEntry as clients see it.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "fakes/logging/book/chunk_packer.h"
#include "fakes/logging/book/entry.h"
#include "fakes/logging/book/entry_listing.h"
#include "fakes/logging/book/log_purge.h"
#include "fakes/logging/book/log_schema.h"
#include "fakes/logging/book/written_rows.h"

namespace caip::logging {

/// Selects entries of a job. All conditions hold at once.
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

/// The book. Any thread may call anything. Insert ids increase over the whole life of the file.
/// Within a job, times never decrease: an entry that is late gets the time of the one before.
class LogBook {
 public:
  /// The most bytes of entries that wait to be stored; Append blocks beyond that. While the disk is
  /// full, the book keeps this much in memory.
  static constexpr size_t kWaitingBytesMax = 64u << 20;

  /// Opens or creates the file. kDataLoss: it is damaged, or it is not a log book; the message says
  /// what to do.
  static Result<std::unique_ptr<LogBook>> Open(const Path& file, const JobLogNames& names);
  LogBook(const LogBook&) = delete;
  LogBook& operator=(const LogBook&) = delete;
  ~LogBook();  // stores what was appended

  const JobLogNames& names() const { return file_.names(); }

  /// Usually returns at once: the storing thread stores entries in groups, at most 20 ms apart.
  /// Blocks while kWaitingBytesMax are waiting.
  void Append(std::vector<Entry> entries);
  /// Stores entries of clients: durable and readable when this returns. An entry with the time and
  /// the insert id of another one under its parent is the same entry and is not stored again.
  Status Write(std::vector<WrittenEntry> entries);
  /// Makes an insert id for an entry whose client gave none. Ids increase and never equal that of a
  /// job's entry.
  std::string NewInsertId();
  /// Deletes all present entries of a log, at once for readers. kNotFound: the log does not exist.
  Status DeleteLog(const LogKey& log);
  /// Deletes all entries of a job, and those that clients wrote for it, at once for readers.
  /// Another job may then have its id.
  Status DeleteJob(const std::string& project, const std::string& job_id);

  /// Returns when everything appended so far is durable and readable. An Error says why that is not
  /// possible now (the disk is full); nothing is lost, and the book keeps trying.
  Status Flush();
  /// True: everything appended so far is durable and readable. Otherwise calls `stored` once it is,
  /// on the storing thread, where it must not append. Not called if the book is closed before.
  bool IsStored(std::function<void()> stored);

  /// A page of entries of jobs and clients, as LogEntries.
  Result<ListPage> List(const ListQuery& query) const;
  /// A page of the ids of a parent's logs, sorted, after `after`.
  Result<std::vector<std::string>> LogIds(const std::string& parent, const std::string& after,
                                          size_t limit) const;
  Result<std::vector<Entry>> Query(const EntryQuery& query) const;

  /// True as soon as the job has an entry after `after_id`. False after `timeout`, or once `other`
  /// holds; `other` is checked whenever followers wake up.
  bool WaitForMore(const std::string& project, const std::string& job_id, uint64_t after_id,
                   std::chrono::milliseconds timeout,
                   const std::function<bool()>& other = {}) const;
  /// Returns a count that grows whenever something is stored. Waits until it differs from `seen`,
  /// or for `timeout`.
  uint64_t WaitForChange(uint64_t seen, std::chrono::milliseconds timeout) const;
  /// Makes all waiting followers check their `other`.
  void WakeFollowers() const;

 private:
  /// The work for one transaction.
  struct Batch {
    std::deque<std::vector<Entry>> entries;
    std::vector<WrittenEntry> written;
    std::vector<LogKey> deletions;
    std::vector<std::pair<std::string, std::string>> deleted_jobs;  // project and job id
    uint64_t calls = 0;  // the number of calls that added to it

    bool empty() const { return calls == 0; }
  };
  /// A caller of IsStored, and the number of calls that it waits for.
  struct Awaited {
    uint64_t calls = 0;
    std::function<void()> stored;
  };
  using JobKey = std::pair<std::string, std::string>;  // project and job id
  struct Followed {
    int followers = 0;     // calls of WaitForMore
    uint64_t last_id = 0;  // of the job
  };

  LogBook(LogFile file, uint64_t last_id, int64_t last_written);
  Status StoreAtOnce(const std::function<void(Batch&)>& add);
  Status WaitUntilStored(std::unique_lock<std::mutex>& lock, uint64_t wanted);
  uint64_t LastIdInFile(const JobKey& job) const;

  // The storing thread.
  void RunStoring();
  void WaitForBatch(std::unique_lock<std::mutex>& lock);
  bool StoreBatch(const Batch& batch);
  Status PutBatch(const Batch& batch, const std::vector<Chunk>& chunks);
  void CallAwaiting(std::unique_lock<std::mutex>& lock);
  void Purge();
  void Announce(const std::vector<Chunk>& chunks);

  // The storing thread owns these.
  LogFile file_;
  ChunkPacker packer_;
  KnownLogs known_logs_;
  LogPurge purge_;
  int64_t last_written_;
  bool purging_ = true;  // an earlier process may not have finished
  MonotonicTime last_commit_{};

  mutable LogReaders readers_;
  std::atomic<uint64_t> next_insert_id_;

  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable work_;
  std::condition_variable done_;
  std::condition_variable retry_;
  mutable std::condition_variable more_;
  Batch queue_;
  size_t queued_bytes_ = 0;   // in queue_
  size_t waiting_bytes_ = 0;  // in queue_ and in the batch that is being stored
  uint64_t appended_ = 0;     // number of calls of Append, Write and DeleteLog
  uint64_t stored_ = 0;       // number of these calls whose entries are stored
  uint64_t flush_to_ = 0;
  std::deque<Awaited> awaiting_;  // by calls
  uint64_t failures_ = 0;
  Status health_ = Ok{};
  mutable std::map<JobKey, Followed> followed_;
  bool stopping_ = false;
  std::thread thread_;  // last: uses all of the above
};

}  // namespace caip::logging
