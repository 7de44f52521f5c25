#include "fakes/logging/book/log_file.h"

#include <sqlite3.h>

#include <algorithm>

#include "base/text.h"
#include "fakes/logging/book/errors.h"

namespace caip::logging {
namespace {

constexpr std::string_view kInsertChunk =
    "INSERT INTO chunks(first_id, last_id, project, job_id, first_time, last_time, severities,"
    " tasks, entries) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
constexpr std::string_view kReplaceChunk =
    "REPLACE INTO chunks(first_id, last_id, project, job_id, first_time, last_time, severities,"
    " tasks, entries) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

std::string ChunkSelect(const ChunkQuery& query) {
  std::string sql =
      "SELECT first_id, last_id, project, job_id, first_time, last_time, entries FROM chunks"
      " WHERE project = ?1 AND last_id > ?3 AND first_id > ?6 AND last_time >= ?4 AND first_time < "
      "?5";
  if (!query.job_id.empty()) sql += " AND job_id = ?2";
  sql += " ORDER BY first_id";
  if (query.newest_first) sql += " DESC";
  return sql;
}

}  // namespace

LogFile::LogFile(const Path& file, const JobLogNames& names)
    : database_(std::make_unique<SqliteDatabase>(file, errors::CannotOpen)), names_(names) {}

Result<LogFile> LogFile::Open(const Path& file, const JobLogNames& names) {
  LogFile opened(file, names);
  RETURN_IF_ERROR(opened.database_->Open(SqliteDatabase::Mode::kCreate));
  RETURN_IF_ERROR(opened.Execute("PRAGMA wal_autocheckpoint = 2000"));
  RETURN_IF_ERROR(opened.Execute("PRAGMA journal_size_limit = 4194304"));
  return opened;
}

Status LogFile::Execute(const char* sql) {
  Status run = database_->Run(sql);
  if (!run.ok() && !writing_) RollBack();
  return run;
}

void LogFile::RollBack() {
  if (database_->IsInTransaction()) (void)database_->Run("ROLLBACK").ok();
}

SqliteStatement* LogFile::FindStatement(std::string_view sql) {
  if (const auto found = statements_.find(sql); found != statements_.end()) return &found->second;
  const auto at = statements_.try_emplace(std::string(sql)).first;
  if (!database_->Prepare(at->second, at->first.c_str()).ok()) {
    statements_.erase(at);
    return nullptr;
  }
  return &at->second;
}

Error LogFile::LastError() const {
  return database_->LastFailure(writing_ ? errors::CannotStore : errors::CannotRead);
}

Status LogFile::Write(const std::function<Status()>& body) {
  writing_ = true;
  Status written = SqlQuery(*this, "BEGIN IMMEDIATE").Run();
  if (written.ok()) written = body();
  if (written.ok()) written = SqlQuery(*this, "COMMIT").Run();
  if (!written.ok()) RollBack();
  writing_ = false;
  return written;
}

Status LogFile::ReadSnapshot(const std::function<Status()>& body) {
  RETURN_IF_ERROR(SqlQuery(*this, "BEGIN").Run());
  const Status read = body();
  RollBack();  // `body` only reads
  return read;
}

Status LogFile::PutChunk(std::string_view sql, const Chunk& chunk) {
  const std::string tasks = Join(chunk.tasks, "\n");
  SqlQuery put(*this, sql);
  put.Bind(1, chunk.first_id).Bind(2, chunk.last_id).Bind(3, chunk.project).Bind(4, chunk.job_id);
  put.Bind(5, chunk.first_time).Bind(6, chunk.last_time).Bind(7, int64_t{chunk.severities});
  return put.Bind(8, tasks).Bind(9, chunk.entries).Run();
}

Status LogFile::InsertChunk(const Chunk& chunk) { return PutChunk(kInsertChunk, chunk); }
Status LogFile::ReplaceChunk(const Chunk& chunk) { return PutChunk(kReplaceChunk, chunk); }

Status LogFile::RemoveChunk(uint64_t first_id) {
  return SqlQuery(*this, "DELETE FROM chunks WHERE first_id = ?1").Bind(1, first_id).Run();
}

Status LogFile::ReadChunks(const ChunkQuery& query, const std::function<bool(const Chunk&)>& take) {
  SqlQuery rows(*this, ChunkSelect(query));
  rows.Bind(1, query.project).Bind(3, query.after_id).Bind(4, query.from).Bind(5, query.until);
  if (!query.job_id.empty()) rows.Bind(2, query.job_id);
  rows.Bind(6, query.after_id - std::min(query.after_id, kChunkEntriesMax));
  while (rows.Next()) {
    Chunk chunk;
    chunk.first_id = static_cast<uint64_t>(rows.Number(0));
    chunk.last_id = static_cast<uint64_t>(rows.Number(1));
    chunk.project = rows.Text(2);
    chunk.job_id = rows.Text(3);
    chunk.first_time = rows.Time(4);
    chunk.last_time = rows.Time(5);
    chunk.entries = rows.Text(6);
    if (!take(chunk)) return Ok{};
  }
  return rows.status();
}

Result<LastEntry> LogFile::LastOfJob(const std::string& project, const std::string& job_id) {
  ChunkQuery query;
  query.project = project;
  query.job_id = job_id;
  query.newest_first = true;
  LastEntry last;
  RETURN_IF_ERROR(ReadChunks(query, [&last](const Chunk& chunk) {
    last = {chunk.last_id, chunk.last_time};
    return false;
  }));
  return last;
}

Result<uint64_t> LogFile::LastInsertId() {
  ASSIGN_OR_RETURN(const int64_t kept, Setting(kLastIdSetting));
  SqlQuery row(*this, "SELECT last_id FROM chunks ORDER BY first_id DESC LIMIT 1");
  const int64_t last = row.Next() ? row.Number(0) : 0;
  RETURN_IF_ERROR(row.status());
  return static_cast<uint64_t>(std::max(kept, last));
}

Result<int64_t> LogFile::Setting(const std::string& name) {
  SqlQuery row(*this, "SELECT value FROM settings WHERE name = ?1");
  const int64_t value = row.Bind(1, name).Next() ? row.Number(0) : 0;
  RETURN_IF_ERROR(row.status());
  return value;
}

Status LogFile::SetSetting(const std::string& name, int64_t value) {
  SqlQuery put(*this, "REPLACE INTO settings(name, value) VALUES(?1, ?2)");
  return put.Bind(1, name).Bind(2, value).Run();
}

SqlQuery::SqlQuery(LogFile& file, std::string_view sql)
    : file_(file),
      statement_(file.FindStatement(sql)),
      code_(statement_ ? SQLITE_OK : SQLITE_ERROR) {}

SqlQuery::~SqlQuery() {
  if (statement_) statement_->Reset();
}

SqlQuery& SqlQuery::Bind(int place, int64_t number) {
  if (statement_) statement_->Bind(place, number);
  return *this;
}

SqlQuery& SqlQuery::Bind(int place, uint64_t number) {
  return Bind(place, static_cast<int64_t>(std::min<uint64_t>(number, INT64_MAX)));
}

SqlQuery& SqlQuery::Bind(int place, Instant time) {
  return Bind(place, int64_t{time.time_since_epoch().count()});
}

SqlQuery& SqlQuery::Bind(int place, const std::string& text) {
  if (statement_) statement_->Bind(place, text);
  return *this;
}

bool SqlQuery::Next() {
  if (statement_) code_ = statement_->Step();
  return code_ == SQLITE_ROW;
}

Status SqlQuery::Run() {
  while (Next()) continue;
  return status();
}

Status SqlQuery::status() const {
  if (code_ == SQLITE_ROW || code_ == SQLITE_DONE || code_ == SQLITE_OK) return Ok{};
  return file_.LastError();
}

int64_t SqlQuery::Number(int column) const { return statement_->Integer(column); }

Instant SqlQuery::Time(int column) const { return Instant(Duration(Number(column))); }

std::string SqlQuery::Text(int column) const { return statement_->Text(column); }

}  // namespace caip::logging
