#pragma once
// The rows of the log book that are no chunks: what clients wrote, which logs there are, and which
// are deleted.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "fakes/logging/book/log_file.h"

namespace caip::logging {

/// A log: projects/p, id.
struct LogKey {
  std::string parent;
  std::string log_id;
  auto operator<=>(const LogKey&) const = default;
};

/// A row of what clients wrote. `json` is the LogEntry as entries.list answers it.
struct WrittenEntry {
  std::string parent;  // "projects/p"
  std::string log_id;  // not encoded: "a/b"
  Instant time;
  std::string insert_id;
  std::string job_id;  // resource.labels.job_id, or ""
  int severity = 0;
  std::string json;
};

/// Up to where a deleted log's entries are gone; what came later is there.
struct DeletedUpTo {
  uint64_t last_id = 0;
  int64_t last_written = 0;
};
using DeletedLogs = std::map<LogKey, DeletedUpTo>;

/// The log of a job's entry: its task's, or the job's own for lines of the service.
std::string LogIdOfTask(const std::string& task, const std::string& job_id);
std::string ParentOfProject(const std::string& project);

/// Notes logs in the file as their first entries come; remembers the last some thousand. The
/// storing thread's.
class KnownLogs {
 public:
  Status Note(LogFile& file, const LogKey& log);
  Status NoteLogsOf(LogFile& file, const Chunk& chunk);
  void Forget() { known_.clear(); }

 private:
  std::set<LogKey> known_;
};

/// Inside LogFile::Write. An entry with time and insert id of another of its parent's is not stored
/// again.
Status InsertWritten(LogFile& file, int64_t id, const WrittenEntry& entry);
/// The greatest id that was ever given.
Result<int64_t> LastWrittenId(LogFile& file);

/// A page of the ids of a parent's logs, in their order, behind `after`; `inclusive`: with it.
Result<std::vector<std::string>> ReadLogIds(LogFile& file, const std::string& parent,
                                            const std::string& after, size_t limit, bool inclusive);

Result<DeletedLogs> ReadDeleted(LogFile& file);
/// Inside LogFile::Write: from now on nothing of the log is read. Nothing happens where there is
/// none.
Status MarkDeleted(LogFile& file, const LogKey& log, const DeletedUpTo& up_to);

}  // namespace caip::logging
