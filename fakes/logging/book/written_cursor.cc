// The entries that clients wrote, in the order of their times, as an index returns them.

#include "base/json.h"
#include "fakes/logging/book/entry_cursor.h"
#include "fakes/logging/book/errors.h"

namespace caip::logging {
namespace {

std::string WrittenSelect(const EntryScan& scan, int source) {
  std::string sql = "SELECT time, insert_id, id, log, severity, entry FROM written INDEXED BY ";
  sql += scan.bounds.job_id   ? "written_of_job"
         : scan.bounds.log_id ? "written_of_log"
                              : "written_by_time";
  sql += " WHERE parent = ?1 AND time >= ?2 AND time < ?3";
  if (scan.bounds.job_id) {
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
        key_(scan.bounds.job_id ? *scan.bounds.job_id : scan.bounds.log_id.value_or("")),
        rows_(file, WrittenSelect(scan, source)) {
    rows_.Bind(1, parent_).Bind(2, scan.bounds.from).Bind(3, scan.bounds.until);
    if (scan.bounds.job_id || scan.bounds.log_id) rows_.Bind(4, key_);
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
