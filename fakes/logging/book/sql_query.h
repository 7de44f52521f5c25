#pragma once
// One use of a compiled SQL statement.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

struct sqlite3_stmt;

namespace caip::logging {

class LogFile;

/// Binds, steps and, at its end, makes the statement fit for the next use. Texts that are bound
/// must live until then. One thread, as its file.
class SqlQuery {
 public:
  /// `sql` is compiled once and kept by the file. The same text must not be in use twice at a time.
  SqlQuery(LogFile& file, std::string_view sql);
  SqlQuery(const SqlQuery&) = delete;
  SqlQuery& operator=(const SqlQuery&) = delete;
  ~SqlQuery();

  SqlQuery& Bind(int place, int64_t number);
  SqlQuery& Bind(int place, uint64_t number);
  SqlQuery& Bind(int place, Instant time);
  SqlQuery& Bind(int place, const std::string& text);

  /// True: there is a row. False: no more, or `status()` tells what failed.
  bool Next();
  /// Runs a statement that answers no rows.
  Status Done();
  /// Of the last Next().
  Status status() const;

  int64_t Number(int column) const;
  Instant Time(int column) const;
  std::string Text(int column) const;

 private:
  LogFile& file_;
  sqlite3_stmt* statement_;
  int code_;
};

}  // namespace caip::logging
