#include "base/sqlite.h"

#include <sqlite3.h>

#include <cctype>
#include <cerrno>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

namespace caip {
namespace {

constexpr int kSqliteBusyTimeoutMs = 10'000;

Code ToCode(int sqlite_code, sqlite3* db) {
  switch (sqlite_code & 0xff) {
    case SQLITE_FULL:
      return Code::kResourceExhausted;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Code::kDataLoss;
    case SQLITE_IOERR:
      return sqlite3_system_errno(db) == EFBIG ? Code::kResourceExhausted : Code::kInternal;
    case SQLITE_CANTOPEN:
      return sqlite3_system_errno(db) == ENOENT ? Code::kNotFound : Code::kInternal;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Code::kUnavailable;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return Code::kPermissionDenied;
    default:
      return Code::kInternal;
  }
}

void CloseLeavingShortLog(sqlite3* db, uint64_t bytes) {
  if (const char* file = db != nullptr ? sqlite3_db_filename(db, "main") : nullptr) {
    std::error_code absent;
    const auto size = std::filesystem::file_size(sqlite3_filename_wal(file), absent);
    if (!absent && size <= bytes) {
      int keep = 1;
      sqlite3_file_control(db, "main", SQLITE_FCNTL_PERSIST_WAL, &keep);
      sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    }
  }
  sqlite3_close_v2(db);
}

// Of a write-ahead log (https://www.sqlite.org/fileformat.html).
constexpr uintmax_t kLogHeaderBytes = 32;

// True if the database has a log with more than its header. A process that ends early leaves a
// header alone, from which SQLite makes no index: it would try for 10 s and fail (SQLITE_PROTOCOL).
bool HasLog(const Path& file) {
  std::error_code absent;
  const uintmax_t size = std::filesystem::file_size(file.string() + "-wal", absent);
  if (!absent && size > kLogHeaderBytes) return true;
  return std::filesystem::exists(file.string() + "-journal", absent);
}

// SQLite counts the bytes that it allocates, which nobody asks for. All threads would wait for each
// other at the lock of the count. (https://www.sqlite.org/malloc.html, section 3.4)
void CountNoMemory() {
  static const int once = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  static_cast<void>(once);
}

// https://www.sqlite.org/uri.html
std::string UriOf(const Path& file, std::string_view parameters) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string uri = "file:";
  for (const char c : file.string()) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '.' ||
                       c == '-' || c == '_';
    if (plain) {
      uri += c;
    } else {
      uri += '%';
      uri += kDigits[static_cast<unsigned char>(c) >> 4];
      uri += kDigits[static_cast<unsigned char>(c) & 15];
    }
  }
  return uri + "?mode=ro" + std::string(parameters);
}

}  // namespace

SqliteStatement::~SqliteStatement() { sqlite3_finalize(statement_); }

sqlite3_stmt* SqliteStatement::Compiled() {
  if (!statement_ && later_) {
    sqlite3_prepare_v3(later_, sql_, -1, SQLITE_PREPARE_PERSISTENT, &statement_, nullptr);
  }
  return statement_;
}

SqliteStatement& SqliteStatement::Bind(int at, const std::string& text) {
  sqlite3_bind_text64(Compiled(), at, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

SqliteStatement& SqliteStatement::Bind(int at, int64_t number) {
  sqlite3_bind_int64(Compiled(), at, number);
  return *this;
}

SqliteStatement& SqliteStatement::Bind(int at, double number) {
  sqlite3_bind_double(Compiled(), at, number);
  return *this;
}

SqliteStatement& SqliteStatement::BindBytes(int at, std::string_view bytes) {
  sqlite3_bind_blob64(Compiled(), at, bytes.data(), bytes.size(), SQLITE_TRANSIENT);
  return *this;
}

int SqliteStatement::Step() {
  if (sqlite3_stmt* statement = Compiled()) return sqlite3_step(statement);
  return later_ ? sqlite3_errcode(later_) : SQLITE_MISUSE;
}

bool SqliteStatement::Next() { return Step() == SQLITE_ROW; }

std::string SqliteStatement::Text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  const int size = sqlite3_column_bytes(statement_, column);
  return text == nullptr ? "" : std::string(text, static_cast<size_t>(size));
}

int64_t SqliteStatement::Integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

double SqliteStatement::Real(int column) const {
  if (sqlite3_column_type(statement_, column) == SQLITE_NULL) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return sqlite3_column_double(statement_, column);
}

void SqliteStatement::Reset() {
  if (!statement_) return;  // it could not be compiled
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

SqliteDatabase::~SqliteDatabase() { CloseLeavingShortLog(db_, log_bytes_kept_); }

// A file without a write-ahead log has no writer, and is read as it is. Otherwise the log's index
// is only read; SQLite makes one in memory if the index on disk is of an earlier process.
int SqliteDatabase::OpenReadOnly() {
  constexpr int kFlags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
  const bool has_log = HasLog(file_);
  for (const char* parameters : {has_log ? "&readonly_shm=1" : "&immutable=1", ""}) {
    sqlite3_close_v2(db_);
    int code = sqlite3_open_v2(UriOf(file_, parameters).c_str(), &db_, kFlags, nullptr);
    if (code != SQLITE_OK) return code;
    code = sqlite3_exec(db_, "PRAGMA schema_version", nullptr, nullptr, nullptr);
    const bool lacks_index = code == SQLITE_CANTOPEN || code == SQLITE_READONLY;
    if (!lacks_index || !has_log) return code;
  }
  if (sqlite3_extended_errcode(db_) != SQLITE_READONLY_ROLLBACK) return sqlite3_errcode(db_);
  // A power failure while the database got its write-ahead log leaves a journal that only a writer
  // can roll back. Nothing had been written to the log before.
  sqlite3_close_v2(db_);
  const int code = sqlite3_open_v2(UriOf(file_, "&immutable=1").c_str(), &db_, kFlags, nullptr);
  if (code != SQLITE_OK) return code;
  return sqlite3_exec(db_, "PRAGMA schema_version", nullptr, nullptr, nullptr);
}

Status SqliteDatabase::Open(Mode mode) {
  CountNoMemory();
  sqlite3_close_v2(std::exchange(db_, nullptr));  // of an opening that failed
  if (mode == Mode::kReadOnly) {
    const int opened = OpenReadOnly();
    if (opened != SQLITE_OK) return Failure(opened);
    sqlite3_busy_timeout(db_, kSqliteBusyTimeoutMs);
    return Ok{};
  }
  const int create = mode == Mode::kCreate ? SQLITE_OPEN_CREATE : 0;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | create;
  const int code = sqlite3_open_v2(file_.c_str(), &db_, flags, nullptr);
  if (code != SQLITE_OK) return Failure(code);
  sqlite3_busy_timeout(db_, kSqliteBusyTimeoutMs);
  return Ok{};
}

Status SqliteDatabase::Run(const char* sql) {
  const int code = sqlite3_exec(db_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return Failure(code);
  return Ok{};
}

Status SqliteDatabase::Prepare(SqliteStatement& statement, const char* sql) {
  const int code =
      sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement.statement_, nullptr);
  if (code != SQLITE_OK) return Failure(code);
  return Ok{};
}

void SqliteDatabase::PrepareLater(SqliteStatement& statement, const char* sql) const {
  statement.later_ = db_;
  statement.sql_ = sql;
}

Result<int64_t> SqliteDatabase::Number(const char* sql) {
  SqliteStatement statement;
  RETURN_IF_ERROR(Prepare(statement, sql));
  const int code = statement.Step();
  if (code != SQLITE_ROW) return Failure(code);
  return statement.Integer(0);
}

Status SqliteDatabase::CopyTo(const Path& copy) {
  sqlite3* into = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  int code = sqlite3_open_v2(copy.c_str(), &into, flags, nullptr);
  if (code == SQLITE_OK) {
    sqlite3_backup* const backup = sqlite3_backup_init(into, "main", db_, "main");
    code = backup != nullptr ? sqlite3_backup_step(backup, -1) : sqlite3_errcode(into);
    const int finished = backup != nullptr ? sqlite3_backup_finish(backup) : code;
    if (code == SQLITE_DONE) code = finished;
  }
  Status copied = Ok{};
  if (code != SQLITE_OK) copied = make_error_(ToCode(code, into), copy, sqlite3_errstr(code));
  sqlite3_close_v2(into);
  return copied;
}

int64_t SqliteDatabase::Changes() const { return sqlite3_changes64(db_); }

bool SqliteDatabase::IsInTransaction() const { return sqlite3_get_autocommit(db_) == 0; }

Error SqliteDatabase::LastFailure(ErrorMaker make_error) const {
  return make_error(ToCode(sqlite3_errcode(db_), db_), file_, sqlite3_errmsg(db_));
}

Error SqliteDatabase::Failure(int sqlite_code) const {
  return make_error_(ToCode(sqlite_code, db_), file_,
                     db_ ? std::string_view(sqlite3_errmsg(db_)) : "no memory");
}

}  // namespace caip
