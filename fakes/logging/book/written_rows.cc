
#include "fakes/logging/book/written_rows.h"

#include <algorithm>

#include "base/json.h"
#include "fakes/logging/book/entry.h"
#include "fakes/logging/book/entry_listing.h"
#include "fakes/logging/book/errors.h"

namespace caip::logging {
namespace {

constexpr size_t kKnownLogsMax = 1000;

}  // namespace

Status KnownLogs::Record(LogFile& file, const LogKey& log) {
  if (known_.count(log)) return Ok{};
  SqlQuery put(file, "INSERT OR IGNORE INTO logs(parent, log) VALUES(?1, ?2)");
  RETURN_IF_ERROR(put.Bind(1, log.parent).Bind(2, log.log_id).Run());
  if (known_.size() >= kKnownLogsMax) known_.clear();
  known_.insert(log);
  return Ok{};
}

Status KnownLogs::RecordLogsOf(LogFile& file, const Chunk& chunk) {
  for (const std::string& task : chunk.tasks) {
    const std::string log_id = LogIdOfTask(file.names(), task, chunk.job_id);
    RETURN_IF_ERROR(Record(file, {ProjectParent(chunk.project), log_id}));
  }
  return Ok{};
}

Status InsertWritten(LogFile& file, int64_t id, const WrittenEntry& entry) {
  SqlQuery put(file,
               "INSERT OR IGNORE INTO written(id, parent, log, time, insert_id, job_id, severity,"
               " entry) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)");
  put.Bind(1, id).Bind(2, entry.parent).Bind(3, entry.log_id).Bind(4, entry.time);
  put.Bind(5, entry.insert_id).Bind(6, entry.job_id).Bind(7, int64_t{entry.severity});
  return put.Bind(8, entry.json).Run();
}

Result<int64_t> LastWrittenId(LogFile& file) {
  ASSIGN_OR_RETURN(const int64_t kept, file.Setting(kLastWrittenSetting));
  SqlQuery row(file, "SELECT max(id) FROM written");
  const int64_t last = row.Next() ? row.Number(0) : 0;
  if (const Status read = row.status(); !read.ok()) return read.error();
  return std::max(kept, last);
}

Result<std::vector<std::string>> ReadLogIds(LogFile& file, const std::string& parent,
                                            const std::string& after, size_t limit,
                                            bool inclusive) {
  SqlQuery rows(file,
                inclusive
                    ? "SELECT log FROM logs WHERE parent = ?1 AND log >= ?2 ORDER BY log LIMIT ?3"
                    : "SELECT log FROM logs WHERE parent = ?1 AND log > ?2 ORDER BY log LIMIT ?3");
  rows.Bind(1, parent).Bind(2, after).Bind(3, uint64_t{limit});
  std::vector<std::string> ids;
  while (rows.Next()) ids.push_back(rows.Text(0));
  if (const Status read = rows.status(); !read.ok()) return read.error();
  return ids;
}

Result<DeletedLogs> ReadDeleted(LogFile& file) {
  SqlQuery rows(file, "SELECT parent, log, last_id, last_written FROM deleted");
  DeletedLogs deleted;
  while (rows.Next()) {
    deleted[{rows.Text(0), rows.Text(1)}] = {static_cast<uint64_t>(rows.Number(2)), rows.Number(3)};
  }
  if (const Status read = rows.status(); !read.ok()) return read.error();
  return deleted;
}

Status MarkDeleted(LogFile& file, const LogKey& log, const DeletedUpTo& up_to) {
  SqlQuery forget(file, "DELETE FROM logs WHERE parent = ?1 AND log = ?2");
  RETURN_IF_ERROR(forget.Bind(1, log.parent).Bind(2, log.log_id).Run());
  SqlQuery put(file,
               "REPLACE INTO deleted(parent, log, last_id, last_written)"
               " VALUES(?1, ?2, ?3, ?4)");
  put.Bind(1, log.parent).Bind(2, log.log_id).Bind(3, up_to.last_id).Bind(4, up_to.last_written);
  RETURN_IF_ERROR(put.Run());
  RETURN_IF_ERROR(file.SetSetting(kLastIdSetting, static_cast<int64_t>(up_to.last_id)));
  return file.SetSetting(kLastWrittenSetting, up_to.last_written);
}

namespace {

// The service has a log of its own for each job; replicas share theirs with other jobs. A client
// may have written to it without naming the job.
Status ForgetServiceLog(LogFile& file, const std::string& project, const std::string& job_id) {
  SqlQuery forget(file,
                  "DELETE FROM logs WHERE parent = ?1 AND log = ?2 AND NOT EXISTS (SELECT 1"
                  " FROM written WHERE parent = ?1 AND log = ?2 COLLATE NOCASE AND log = ?2)");
  const std::string log_id = LogIdOfTask(file.names(), "service", job_id);
  return forget.Bind(1, ProjectParent(project)).Bind(2, log_id).Run();
}

}  // namespace

Status RemoveJob(LogFile& file, const std::string& project, const std::string& job_id,
                 const DeletedUpTo& up_to) {
  SqlQuery chunks(file, "DELETE FROM chunks WHERE project = ?1 AND job_id = ?2");
  RETURN_IF_ERROR(chunks.Bind(1, project).Bind(2, job_id).Run());
  SqlQuery written(file, "DELETE FROM written WHERE parent = ?1 AND job_id = ?2 AND job_id <> ''");
  RETURN_IF_ERROR(written.Bind(1, ProjectParent(project)).Bind(2, job_id).Run());
  RETURN_IF_ERROR(ForgetServiceLog(file, project, job_id));
  RETURN_IF_ERROR(file.SetSetting(kLastIdSetting, static_cast<int64_t>(up_to.last_id)));
  return file.SetSetting(kLastWrittenSetting, up_to.last_written);
}

// The entries that clients wrote, in the order of their times, as an index returns them.

namespace {

std::string WrittenSelect(const EntryScan& scan, int source) {
  std::string sql = "SELECT time, insert_id, id, log, severity, entry FROM written INDEXED BY ";
  sql += scan.bounds.written_job_id ? "written_of_job"
         : scan.bounds.log_id       ? "written_of_log"
                                    : "written_by_time";
  sql += " WHERE parent = ?1 AND time >= ?2 AND time < ?3";
  if (scan.bounds.written_job_id) {
    sql += " AND job_id = ?4 COLLATE NOCASE AND job_id <> ''";
  } else if (scan.bounds.log_id) {
    sql += " AND log = ?4 COLLATE NOCASE";
  }
  sql += scan.newest_first ? " ORDER BY time DESC, insert_id DESC" : " ORDER BY time, insert_id";
  return sql + " /* " + std::to_string(source) + " */";
}

class WrittenCursor final : public EntryCursor {
 public:
  WrittenCursor(LogFile& file, const EntryScan& scan, const std::string& parent, int source)
      : file_(file),
        scan_(scan),
        parent_(parent),
        source_(source),
        key_(scan.bounds.written_job_id ? *scan.bounds.written_job_id
                                        : scan.bounds.log_id.value_or("")),
        rows_(file, WrittenSelect(scan, source)) {
    rows_.Bind(1, parent_).Bind(2, scan.bounds.from).Bind(3, scan.bounds.until);
    if (scan.bounds.written_job_id || scan.bounds.log_id) rows_.Bind(4, key_);
  }

  Result<bool> Next() override {
    const bool has_row = rows_.Next();
    RETURN_IF_ERROR(rows_.status());
    return has_row;
  }

  EntryPosition position() const override { return {rows_.Time(0), rows_.Text(1), source_}; }

  bool IsWanted() const override {
    const auto severity = static_cast<int>(rows_.Number(4));
    if (!(scan_.bounds.severities & SeverityBit(severity))) return false;
    if (scan_.deleted.empty()) return true;
    const auto deleted = scan_.deleted.find({parent_, rows_.Text(3)});
    return deleted == scan_.deleted.end() || rows_.Number(2) > deleted->second.last_written;
  }

  size_t examined() const override { return 1; }

  Result<Json> Read() const override {
    auto entry = ParseJson(rows_.Text(5));
    if (entry.ok()) return entry;
    return errors::WrittenDamaged(file_.path(), rows_.Number(2));
  }

 private:
  LogFile& file_;
  const EntryScan& scan_;
  std::string parent_;
  int source_;
  std::string key_;
  SqlQuery rows_;
};

}  // namespace

std::unique_ptr<EntryCursor> MakeWrittenCursor(LogFile& file, const EntryScan& scan,
                                               const std::string& parent, int source) {
  return std::make_unique<WrittenCursor>(file, scan, parent, source);
}

}  // namespace caip::logging
