#include "fakes/logging/book/sql_query.h"

#include <sqlite3.h>

#include <algorithm>

#include "fakes/logging/book/log_file.h"

namespace caip::logging {

SqlQuery::SqlQuery(LogFile& file, std::string_view sql)
    : file_(file), statement_(file.Statement(sql)), code_(statement_ ? SQLITE_OK : SQLITE_ERROR) {}

SqlQuery::~SqlQuery() {
  if (!statement_) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

SqlQuery& SqlQuery::Bind(int place, int64_t number) {
  if (statement_) sqlite3_bind_int64(statement_, place, number);
  return *this;
}

SqlQuery& SqlQuery::Bind(int place, uint64_t number) {
  return Bind(place, static_cast<int64_t>(std::min<uint64_t>(number, INT64_MAX)));
}

SqlQuery& SqlQuery::Bind(int place, Instant time) {
  return Bind(place, int64_t{time.time_since_epoch().count()});
}

SqlQuery& SqlQuery::Bind(int place, const std::string& text) {
  if (statement_) {
    sqlite3_bind_text64(statement_, place, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
  }
  return *this;
}

bool SqlQuery::Next() {
  if (statement_) code_ = sqlite3_step(statement_);
  return code_ == SQLITE_ROW;
}

Status SqlQuery::Done() {
  while (Next()) continue;
  return status();
}

Status SqlQuery::status() const {
  if (code_ == SQLITE_ROW || code_ == SQLITE_DONE || code_ == SQLITE_OK) return Ok{};
  return file_.LastError();
}

int64_t SqlQuery::Number(int column) const { return sqlite3_column_int64(statement_, column); }

Instant SqlQuery::Time(int column) const { return Instant(Duration(Number(column))); }

std::string SqlQuery::Text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return text ? std::string(text, sqlite3_column_bytes(statement_, column)) : "";
}

}  // namespace caip::logging
