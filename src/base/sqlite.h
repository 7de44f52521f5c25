#pragma once
// SQLite: connections and statements that clean up after themselves.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/files.h"
#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace caip {

/// A prepared statement. It belongs to one connection and must be destroyed before it. Parameters
/// count from 1, columns from 0.
class SqliteStatement {
 public:
  SqliteStatement() = default;
  SqliteStatement(const SqliteStatement&) = delete;
  SqliteStatement& operator=(const SqliteStatement&) = delete;
  ~SqliteStatement();

  SqliteStatement& Bind(int at, const std::string& text);
  SqliteStatement& Bind(int at, int64_t number);
  /// NaN is stored as NULL: SQLite has no NaN.
  SqliteStatement& Bind(int at, double number);
  /// SQLITE_ROW, SQLITE_DONE or an error.
  int Step();
  std::string Text(int column) const;
  int64_t Integer(int column) const;
  double Real(int column) const;
  void Reset();

 private:
  friend class SqliteDatabase;
  sqlite3_stmt* statement_ = nullptr;
};

/// One use of a statement. Resets the statement at its end, so that no read transaction stays open
/// after a returned row.
class SqliteUse {
 public:
  explicit SqliteUse(SqliteStatement& statement) : statement_(statement) {}
  SqliteUse(const SqliteUse&) = delete;
  SqliteUse& operator=(const SqliteUse&) = delete;
  ~SqliteUse() { statement_.Reset(); }
  SqliteStatement* operator->() { return &statement_; }

 private:
  SqliteStatement& statement_;
};

/// A connection to one database file. One thread at a time.
class SqliteDatabase {
 public:
  /// Makes the Error of a failure from its code, the file and SQLite's own words.
  using ErrorMaker = Error (*)(Code code, const Path& file, std::string_view why);
  enum class Mode { kExisting, kCreate };

  SqliteDatabase(Path file, ErrorMaker make_error)
      : file_(std::move(file)), make_error_(make_error) {}
  SqliteDatabase(const SqliteDatabase&) = delete;
  SqliteDatabase& operator=(const SqliteDatabase&) = delete;
  ~SqliteDatabase();

  /// kCreate makes the file when it is missing.
  Status Open(Mode mode);
  const Path& file() const { return file_; }
  /// Runs statements that return no rows.
  Status Run(const char* sql);
  Status Prepare(SqliteStatement& statement, const char* sql);
  /// The number in the first column of the only row.
  Result<int64_t> Number(const char* sql);
  /// How many rows the last statement changed.
  int64_t Changes() const;
  /// The Error of a call that returned `sqlite_code`.
  Error Failure(int sqlite_code) const;

 private:
  Path file_;
  ErrorMaker make_error_;
  sqlite3* db_ = nullptr;
};

/// Closes a database in write-ahead mode, which may be null. Its log stays when it has at most
/// `bytes`: SQLite would move what the log holds into the database and delete the log, which costs
/// two syncs and two deleted files, some five milliseconds at the end of every command with an
/// emulator inside. The next opening reads a short log in less time than that (a mebibyte in about
/// a millisecond), as it does after a kill. All that was committed is kept either way.
/// (https://www.sqlite.org/wal.html, "Avoiding Excessively Large WAL Files" and "WAL-Index
/// Recovery")
void CloseLeavingShortLog(sqlite3* db, uint64_t bytes = 1 << 20);

}  // namespace caip
