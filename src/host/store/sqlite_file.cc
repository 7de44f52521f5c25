#include "host/store/sqlite_file.h"

#include <sqlite3.h>

#include <cmath>
#include <limits>

#include "base/sqlite.h"
#include "host/errors.h"

namespace caip::host {
namespace {

constexpr int kBusyTimeoutMs = 10'000;

Code CodeOf(int sqlite_code) {
  switch (sqlite_code & 0xff) {
    case SQLITE_FULL:
      return Code::kResourceExhausted;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Code::kDataLoss;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return Code::kPermissionDenied;
    default:
      return Code::kInternal;
  }
}

}  // namespace

Statement::~Statement() { sqlite3_finalize(statement_); }

int Statement::Prepare(sqlite3* db, const char* sql) {
  return sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement_, nullptr);
}

Statement& Statement::Bind(int at, const std::string& text) {
  sqlite3_bind_text64(statement_, at, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

Statement& Statement::Bind(int at, int64_t number) {
  sqlite3_bind_int64(statement_, at, number);
  return *this;
}

Statement& Statement::Bind(int at, double number) {
  sqlite3_bind_double(statement_, at, number);
  return *this;
}

int Statement::Step() { return sqlite3_step(statement_); }

std::string Statement::Text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  const int size = sqlite3_column_bytes(statement_, column);
  return text == nullptr ? "" : std::string(text, static_cast<size_t>(size));
}

int64_t Statement::Integer(int column) const { return sqlite3_column_int64(statement_, column); }

double Statement::Real(int column) const {
  if (sqlite3_column_type(statement_, column) == SQLITE_NULL) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return sqlite3_column_double(statement_, column);
}

void Statement::Reset() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

SqliteFile::~SqliteFile() { CloseLeavingShortLog(db_); }

Status SqliteFile::Open(int flags) {
  const int code = sqlite3_open_v2(file_.c_str(), &db_, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  if (code != SQLITE_OK) return Failure(code);
  sqlite3_busy_timeout(db_, kBusyTimeoutMs);
  return Ok{};
}

Error SqliteFile::Failure(int code) const {
  return errors::JobStoreFailed(CodeOf(code), file_, db_ ? sqlite3_errmsg(db_) : "no memory");
}

Status SqliteFile::Run(const char* sql) {
  const int code = sqlite3_exec(db_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return Failure(code);
  return Ok{};
}

Status SqliteFile::Prepare(Statement& statement, const char* sql) {
  if (const int code = statement.Prepare(db_, sql); code != SQLITE_OK) return Failure(code);
  return Ok{};
}

Result<int64_t> SqliteFile::Number(const char* sql) {
  Statement statement;
  RETURN_IF_ERROR(Prepare(statement, sql));
  const int code = statement.Step();
  if (code != SQLITE_ROW) return Failure(code);
  return statement.Integer(0);
}

}  // namespace caip::host
