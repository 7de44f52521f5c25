#pragma once
// The rows of the log book besides chunks: entries that clients wrote, the logs that exist, and the
// logs that were deleted.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "fakes/logging/book/log_file.h"

namespace caip::logging {

/// Names a log.
struct LogKey {
  std::string parent;  // "projects/p"
  std::string log_id;  // not encoded: "a/b"
  auto operator<=>(const LogKey&) const = default;
};

/// An entry that a client wrote. `json` is the LogEntry that entries.list returns.
struct WrittenEntry {
  std::string parent;  // "projects/p"
  std::string log_id;  // not encoded: "a/b"
  Instant time;
  std::string insert_id;
  std::string job_id;  // resource.labels.job_id, or ""
  int severity = 0;
  std::string json;
};

/// The last entries of a deleted log. Later entries of the same log exist.
struct DeletedUpTo {
  uint64_t last_id = 0;
  int64_t last_written = 0;
};
using DeletedLogs = std::map<LogKey, DeletedUpTo>;

/// Records a log in the file when its first entry is stored. Remembers up to 1,000 recorded logs.
/// Used by the storing thread only.
class KnownLogs {
 public:
  Status Record(LogFile& file, const LogKey& log);
  Status RecordLogsOf(LogFile& file, const Chunk& chunk);
  void Forget() { known_.clear(); }

 private:
  std::set<LogKey> known_;
};

/// Inside LogFile::Write. An entry is not stored again if its parent already has one with its time
/// and insert id.
Status InsertWritten(LogFile& file, int64_t id, const WrittenEntry& entry);
/// The greatest row id that any written entry ever had.
Result<int64_t> LastWrittenId(LogFile& file);

/// A page of the ids of a parent's logs, sorted, after `after`; `inclusive`: from `after` on.
Result<std::vector<std::string>> ReadLogIds(LogFile& file, const std::string& parent,
                                            const std::string& after, size_t limit, bool inclusive);

Result<DeletedLogs> ReadDeleted(LogFile& file);
/// Inside LogFile::Write. Hides all entries of the log up to `up_to` from readers. Does nothing if
/// the log does not exist.
Status MarkDeleted(LogFile& file, const LogKey& log, const DeletedUpTo& up_to);
/// Inside LogFile::Write. Removes the entries of a job and those that clients wrote for it, and the
/// name of the service's log of that job.
Status RemoveJob(LogFile& file, const std::string& project, const std::string& job_id,
                 const DeletedUpTo& up_to);

}  // namespace caip::logging
