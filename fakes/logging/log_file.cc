#include "fakes/logging/log_file.h"

#include <sqlite3.h>

#include <algorithm>
#include <utility>

#include "fakes/logging/errors.h"

namespace caip::logging {
namespace {

constexpr int kApplicationId = 0x43414950;  // "CAIP"
constexpr int kFormat = 1;

constexpr uintmax_t kWalBytesToKeep = 4u << 20;  // as much as is read in no time at the next start

constexpr const char* kSchema =
    "BEGIN IMMEDIATE;"
    "CREATE TABLE IF NOT EXISTS chunks(first_id INTEGER PRIMARY KEY, last_id INTEGER NOT NULL,"
    " project TEXT NOT NULL, job_id TEXT NOT NULL, first_time INTEGER NOT NULL,"
    " last_time INTEGER NOT NULL, entries TEXT NOT NULL);"
    "CREATE INDEX IF NOT EXISTS chunks_of_job ON chunks(project, job_id, first_id);"
    "PRAGMA application_id = 1128352080;"
    "PRAGMA user_version = 1;"
    "COMMIT;";

constexpr const char* kInsert =
    "INSERT INTO chunks(first_id, last_id, project, job_id, first_time, last_time, entries)"
    " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)";

int64_t Nanoseconds(Instant time) { return time.time_since_epoch().count(); }
Instant At(int64_t nanoseconds) { return Instant(Duration(nanoseconds)); }

void BindText(sqlite3_stmt* statement, int place, const std::string& text) {
  sqlite3_bind_text64(statement, place, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

void BindId(sqlite3_stmt* statement, int place, uint64_t id) {
  sqlite3_bind_int64(statement, place,
                     static_cast<sqlite3_int64>(std::min<uint64_t>(id, INT64_MAX)));
}

std::string Text(sqlite3_stmt* statement, int column) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
  return text ? std::string(text, sqlite3_column_bytes(statement, column)) : "";
}

/// Makes a statement fit for its next use, whatever happens.
class Rewind {
 public:
  explicit Rewind(sqlite3_stmt* statement) : statement_(statement) {}
  Rewind(const Rewind&) = delete;
  Rewind& operator=(const Rewind&) = delete;
  ~Rewind() {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
  }

 private:
  sqlite3_stmt* statement_;
};

std::string SelectOf(const ChunkQuery& query) {
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

Result<LogFile> LogFile::Open(const Path& file) {
  sqlite3* database = nullptr;
  const int code = sqlite3_open_v2(
      file.c_str(), &database,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
      nullptr);
  LogFile opened(file, database);
  if (code != SQLITE_OK) {
    return errors::CannotOpen(file, code, database ? sqlite3_errmsg(database) : "no memory");
  }
  RETURN_IF_ERROR(opened.Prepare());
  return opened;
}

LogFile::LogFile(LogFile&& other) noexcept
    : path_(std::move(other.path_)),
      database_(std::exchange(other.database_, nullptr)),
      statements_(std::exchange(other.statements_, {})) {}

LogFile::~LogFile() {
  if (!database_) return;
  std::error_code error;
  const auto wal_bytes = std::filesystem::file_size(path_.string() + "-wal", error);
  if (!error && wal_bytes < kWalBytesToKeep) {
    sqlite3_db_config(database_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  }
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(database_);
}

Status LogFile::Prepare() {
  sqlite3_busy_timeout(database_, 10'000);
  // Closing shall cost nothing: no checkpoint while the WAL is small, and the WAL stays.
  int persist = 1;
  sqlite3_file_control(database_, nullptr, SQLITE_FCNTL_PERSIST_WAL, &persist);
  RETURN_IF_ERROR(Run("PRAGMA wal_autocheckpoint = 2000"));
  RETURN_IF_ERROR(Run("PRAGMA journal_size_limit = 4194304"));
  ASSIGN_OR_RETURN(const int tables, Number("SELECT count(*) FROM sqlite_schema"));
  if (tables > 0) return CheckFormat();              // synchronous is FULL unless told otherwise
  RETURN_IF_ERROR(Run("PRAGMA page_size = 16384"));  // chunks are large
  RETURN_IF_ERROR(Run("PRAGMA synchronous = OFF"));  // of an empty file; the schema is synced
  RETURN_IF_ERROR(Run("PRAGMA journal_mode = WAL"));
  RETURN_IF_ERROR(Run("PRAGMA synchronous = FULL"));
  return Run(kSchema);
}

Status LogFile::CheckFormat() {
  ASSIGN_OR_RETURN(const int application, Number("PRAGMA application_id"));
  if (application != kApplicationId) return errors::NotALogBook(path_);
  ASSIGN_OR_RETURN(const int version, Number("PRAGMA user_version"));
  if (version > kFormat) return errors::MadeByNewerVersion(path_, version);
  return Ok{};
}

Status LogFile::Run(const char* sql) {
  const int code = sqlite3_exec(database_, sql, nullptr, nullptr, nullptr);
  if (code == SQLITE_OK) return Ok{};
  const Error error = errors::CannotOpen(path_, code, sqlite3_errmsg(database_));
  if (!sqlite3_get_autocommit(database_)) {
    sqlite3_exec(database_, "ROLLBACK", nullptr, nullptr, nullptr);
  }
  return error;
}

Result<int> LogFile::Number(const char* sql) {
  sqlite3_stmt* statement = Statement(sql);
  if (!statement) {
    return errors::CannotOpen(path_, sqlite3_extended_errcode(database_),
                              sqlite3_errmsg(database_));
  }
  const Rewind rewind(statement);
  if (const int code = sqlite3_step(statement); code != SQLITE_ROW) {
    return errors::CannotOpen(path_, code, sqlite3_errmsg(database_));
  }
  return sqlite3_column_int(statement, 0);
}

sqlite3_stmt* LogFile::Statement(std::string_view sql) {
  const auto found = statements_.find(sql);
  if (found != statements_.end()) return found->second;
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v3(database_, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                     &statement, nullptr);
  if (statement) statements_.emplace(sql, statement);
  return statement;
}

Status LogFile::Store(const std::vector<Chunk>& chunks) {
  Status stored = Run("BEGIN IMMEDIATE");
  for (size_t i = 0; stored.ok() && i < chunks.size(); ++i) stored = Insert(chunks[i]);
  if (stored.ok()) stored = Run("COMMIT");
  if (stored.ok()) return stored;
  const int code = sqlite3_extended_errcode(database_);
  const std::string detail = sqlite3_errmsg(database_);
  if (!sqlite3_get_autocommit(database_)) {
    sqlite3_exec(database_, "ROLLBACK", nullptr, nullptr, nullptr);
  }
  return code == SQLITE_OK ? stored : Status(errors::CannotStore(path_, code, detail));
}

Status LogFile::Insert(const Chunk& chunk) {
  sqlite3_stmt* statement = Statement(kInsert);
  if (!statement) return ReadError();
  const Rewind rewind(statement);
  BindId(statement, 1, chunk.first_id);
  BindId(statement, 2, chunk.last_id);
  BindText(statement, 3, chunk.project);
  BindText(statement, 4, chunk.job_id);
  sqlite3_bind_int64(statement, 5, Nanoseconds(chunk.first_time));
  sqlite3_bind_int64(statement, 6, Nanoseconds(chunk.last_time));
  BindText(statement, 7, chunk.entries);
  const int code = sqlite3_step(statement);
  if (code == SQLITE_DONE) return Ok{};
  return errors::CannotStore(path_, code, sqlite3_errmsg(database_));
}

Status LogFile::Read(const ChunkQuery& query, const std::function<bool(const Chunk&)>& take) {
  sqlite3_stmt* statement = Statement(SelectOf(query));
  if (!statement) return ReadError();
  const Rewind rewind(statement);
  BindText(statement, 1, query.project);
  if (!query.job_id.empty()) BindText(statement, 2, query.job_id);
  BindId(statement, 3, query.after_id);
  BindId(statement, 6, query.after_id - std::min(query.after_id, kChunkEntriesMax));
  sqlite3_bind_int64(statement, 4, Nanoseconds(query.from));
  sqlite3_bind_int64(statement, 5, Nanoseconds(query.until));
  int code;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    Chunk chunk;
    chunk.first_id = static_cast<uint64_t>(sqlite3_column_int64(statement, 0));
    chunk.last_id = static_cast<uint64_t>(sqlite3_column_int64(statement, 1));
    chunk.project = Text(statement, 2);
    chunk.job_id = Text(statement, 3);
    chunk.first_time = At(sqlite3_column_int64(statement, 4));
    chunk.last_time = At(sqlite3_column_int64(statement, 5));
    chunk.entries = Text(statement, 6);
    if (!take(chunk)) return Ok{};
  }
  return code == SQLITE_DONE ? Status(Ok{}) : Status(ReadError());
}

Result<LastEntry> LogFile::Last(const std::string& project, const std::string& job_id) {
  ChunkQuery query;
  query.project = project;
  query.job_id = job_id;
  query.newest_first = true;
  LastEntry last;
  RETURN_IF_ERROR(Read(query, [&last](const Chunk& chunk) {
    last = {chunk.last_id, chunk.last_time};
    return false;
  }));
  return last;
}

Result<uint64_t> LogFile::LastId() {
  sqlite3_stmt* statement = Statement("SELECT last_id FROM chunks ORDER BY first_id DESC LIMIT 1");
  if (!statement) return ReadError();
  const Rewind rewind(statement);
  const int code = sqlite3_step(statement);
  if (code == SQLITE_DONE) return uint64_t{0};
  if (code != SQLITE_ROW) return ReadError();
  return static_cast<uint64_t>(sqlite3_column_int64(statement, 0));
}

Error LogFile::ReadError() const {
  return errors::CannotRead(path_, sqlite3_extended_errcode(database_), sqlite3_errmsg(database_));
}

}  // namespace caip::logging
