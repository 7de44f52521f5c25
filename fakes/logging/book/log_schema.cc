
#include "fakes/logging/book/log_schema.h"

#include <utility>

#include "base/text.h"
#include "fakes/logging/book/chunk_packer.h"
#include "fakes/logging/book/errors.h"
#include "fakes/logging/book/written_rows.h"

namespace caip::logging {
namespace {

constexpr int64_t kApplicationId = 0x43414950;  // "CAIP"

constexpr const char* kTables =
    "CREATE TABLE IF NOT EXISTS chunks(first_id INTEGER PRIMARY KEY, last_id INTEGER NOT NULL,"
    " project TEXT NOT NULL, job_id TEXT NOT NULL, first_time INTEGER NOT NULL,"
    " last_time INTEGER NOT NULL, severities INTEGER NOT NULL DEFAULT -1,"
    " tasks TEXT NOT NULL DEFAULT '', entries TEXT NOT NULL);"
    "CREATE INDEX IF NOT EXISTS chunks_of_job ON chunks(project, job_id, first_id);"
    // These two indices select the chunks to open without reading the chunks.
    "CREATE INDEX IF NOT EXISTS chunks_by_time ON chunks(project, first_time, last_time, last_id,"
    " severities, job_id, tasks);"
    "CREATE INDEX IF NOT EXISTS chunks_of_job_by_time ON chunks(project, job_id COLLATE NOCASE,"
    " first_time, last_time, last_id, severities, tasks);"
    "CREATE TABLE IF NOT EXISTS written(id INTEGER PRIMARY KEY, parent TEXT NOT NULL,"
    " log TEXT NOT NULL, time INTEGER NOT NULL, insert_id TEXT NOT NULL, job_id TEXT NOT NULL,"
    " severity INTEGER NOT NULL, entry TEXT NOT NULL);"
    "CREATE UNIQUE INDEX IF NOT EXISTS written_by_time ON written(parent, time, insert_id);"
    "CREATE INDEX IF NOT EXISTS written_of_log"
    " ON written(parent, log COLLATE NOCASE, time, insert_id);"
    "CREATE INDEX IF NOT EXISTS written_of_job"
    " ON written(parent, job_id COLLATE NOCASE, time, insert_id) WHERE job_id <> '';"
    "CREATE TABLE IF NOT EXISTS logs(parent TEXT NOT NULL, log TEXT NOT NULL,"
    " PRIMARY KEY(parent, log)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS deleted(parent TEXT NOT NULL, log TEXT NOT NULL,"
    " last_id INTEGER NOT NULL, last_written INTEGER NOT NULL, PRIMARY KEY(parent, log))"
    " WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS settings(name TEXT PRIMARY KEY, value INTEGER NOT NULL)"
    " WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS resources(name TEXT PRIMARY KEY, body TEXT NOT NULL)"
    " WITHOUT ROWID;"
    "PRAGMA application_id = 1128352080;"
    "PRAGMA user_version = 2;";

Result<int64_t> ReadNumber(LogFile& file, std::string_view sql) {
  SqlQuery row(file, sql);
  const int64_t number = row.Next() ? row.Number(0) : 0;
  if (const Status read = row.status(); !read.ok()) return read.error();
  return number;
}

// Chunks of format 1 do not record the severities and tasks in them. This reads and records them.
Status MarkChunks(LogFile& file) {
  ASSIGN_OR_RETURN(const int64_t span,
                   ReadNumber(file, "SELECT max(last_time - first_time) FROM chunks"));
  RETURN_IF_ERROR(file.SetSetting(kSpanSetting, span));
  KnownLogs known;
  SqlQuery rows(file, "SELECT first_id, last_id, project, job_id, entries FROM chunks");
  while (rows.Next()) {
    Chunk chunk;
    chunk.first_id = static_cast<uint64_t>(rows.Number(0));
    chunk.last_id = static_cast<uint64_t>(rows.Number(1));
    chunk.project = rows.Text(2);
    chunk.job_id = rows.Text(3);
    chunk.entries = rows.Text(4);
    std::vector<Entry> entries;
    if (!Unpack(chunk, entries)) return errors::ChunkDamaged(file.path(), chunk.first_id);
    ChunkMarks marks;
    for (const Entry& entry : entries) marks.Add(entry);
    marks.MoveTo(chunk);
    const std::string tasks = Join(chunk.tasks, "\n");
    SqlQuery put(file, "UPDATE chunks SET severities = ?2, tasks = ?3 WHERE first_id = ?1");
    put.Bind(1, chunk.first_id).Bind(2, int64_t{chunk.severities}).Bind(3, tasks);
    RETURN_IF_ERROR(put.Run());
    RETURN_IF_ERROR(known.RecordLogsOf(file, chunk));
  }
  return rows.status();
}

Status UpgradeTables(LogFile& file) {
  return file.Write([&file]() -> Status {
    RETURN_IF_ERROR(
        file.Execute("ALTER TABLE chunks ADD COLUMN severities INTEGER NOT NULL DEFAULT -1;"
                     "ALTER TABLE chunks ADD COLUMN tasks TEXT NOT NULL DEFAULT '';"));
    RETURN_IF_ERROR(file.Execute(kTables));
    return MarkChunks(file);
  });
}

Status CreateTables(LogFile& file) {
  RETURN_IF_ERROR(file.Execute("PRAGMA journal_mode = WAL"));
  return file.Write([&file] { return file.Execute(kTables); });
}

Status PrepareTables(LogFile& file) {
  ASSIGN_OR_RETURN(const int64_t tables, ReadNumber(file, "SELECT count(*) FROM sqlite_schema"));
  if (tables == 0) return CreateTables(file);  // synchronous is FULL by default
  ASSIGN_OR_RETURN(const int64_t application, ReadNumber(file, "PRAGMA application_id"));
  if (application != kApplicationId) return errors::NotALogBook(file.path());
  ASSIGN_OR_RETURN(const int64_t version, ReadNumber(file, "PRAGMA user_version"));
  if (version > kLogFileVersion)
    return errors::MadeByNewerVersion(file.path(), static_cast<int>(version));
  return version < kLogFileVersion ? UpgradeTables(file) : Status(Ok{});
}

}  // namespace

Result<LogFile> OpenLogFile(const Path& path, const JobLogNames& names) {
  ASSIGN_OR_RETURN(LogFile file, LogFile::Open(path, names));
  RETURN_IF_ERROR(PrepareTables(file));
  return file;
}

namespace {

constexpr size_t kIdleMax = 4;

}  // namespace

Result<std::unique_ptr<LogFile>> LogReaders::Borrow() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto file = std::move(idle_.back());
      idle_.pop_back();
      return file;
    }
  }
  ASSIGN_OR_RETURN(LogFile opened, OpenLogFile(path_, names_));
  RETURN_IF_ERROR(opened.Execute(kFewPages));
  return std::make_unique<LogFile>(std::move(opened));
}

void LogReaders::Return(std::unique_ptr<LogFile> file) {
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kIdleMax) idle_.push_back(std::move(file));
}

}  // namespace caip::logging
