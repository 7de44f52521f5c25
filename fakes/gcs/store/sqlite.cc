#include "fakes/gcs/store/sqlite.h"

#include <sqlite3.h>

#include "base/sqlite.h"
#include "fakes/gcs/errors.h"

namespace caip::gcs {

Statement::Statement(sqlite3* database, const char* sql) {
  failed_ = sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement_,
                               nullptr) != SQLITE_OK;
}

Statement::~Statement() { sqlite3_finalize(statement_); }

Statement& Statement::Bind(int index, int64_t value) {
  sqlite3_bind_int64(statement_, index, value);
  return *this;
}

Statement& Statement::Bind(int index, std::string_view text) {
  sqlite3_bind_text(statement_, index, text.data(), static_cast<int>(text.size()),
                    SQLITE_TRANSIENT);
  return *this;
}

Statement& Statement::BindBytes(int index, std::string_view bytes) {
  sqlite3_bind_blob(statement_, index, bytes.data(), static_cast<int>(bytes.size()),
                    SQLITE_TRANSIENT);
  return *this;
}

bool Statement::Step() {
  const int code = sqlite3_step(statement_);
  if (code != SQLITE_ROW && code != SQLITE_DONE) failed_ = true;
  return code == SQLITE_ROW;
}

void Statement::Reset() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
  failed_ = statement_ == nullptr;
}

int64_t Statement::Int(int column) const { return sqlite3_column_int64(statement_, column); }

std::string Statement::Text(int column) const {
  const void* bytes = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return bytes ? std::string(static_cast<const char*>(bytes), static_cast<size_t>(size)) : "";
}

Result<std::unique_ptr<Database>> Database::Open(const Path& file) {
  std::unique_ptr<Database> database(new Database);
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  if (sqlite3_open_v2(file.c_str(), &database->database_, flags, nullptr) != SQLITE_OK) {
    return database->LastError("open '" + file.string() + "',");
  }
  sqlite3_busy_timeout(database->database_, 10'000);
  return database;
}

Database::~Database() { CloseLeavingShortLog(database_); }

Status Database::Run(const char* sql) {
  if (sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
    return LastError("write");
  }
  return Ok{};
}

Error Database::LastError(std::string_view what) const {
  return errors::SideStoreFailed(what, sqlite3_errcode(database_), sqlite3_errmsg(database_));
}

bool Database::IsBroken() const {
  const int code = sqlite3_errcode(database_);
  return code == SQLITE_NOTADB || code == SQLITE_CORRUPT;
}

}  // namespace caip::gcs
