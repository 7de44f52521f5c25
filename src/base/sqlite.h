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
  SqliteStatement& BindBytes(int at, std::string_view bytes);
  /// SQLITE_ROW, SQLITE_DONE or an error.
  int Step();
  /// Steps once. True if there is a row; false at the end and after an error.
  bool Next();
  /// A text or bytes; "" for NULL.
  std::string Text(int column) const;
  int64_t Integer(int column) const;
  double Real(int column) const;
  void Reset();

 private:
  friend class SqliteDatabase;
  sqlite3_stmt* Compiled();

  sqlite3_stmt* statement_ = nullptr;
  sqlite3* later_ = nullptr;  // compile it with this connection at its first use
  const char* sql_ = nullptr;
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

/// A connection keeps at most 512 KiB of pages instead of 2 MiB. The system caches the file as
/// well, and a reader drops its pages whenever another connection writes.
inline constexpr char kFewPages[] = "PRAGMA cache_size = -512";

/// A connection to one database file. One thread at a time.
class SqliteDatabase {
 public:
  /// Makes the Error of a failure from its code, the file and SQLite's own message.
  using ErrorMaker = Error (*)(Code code, const Path& file, std::string_view why);
  enum class Mode { kExisting, kCreate, kReadOnly };

  /// Closing the database keeps a write-ahead log of at most `log_bytes_kept`. Otherwise SQLite
  /// would move the contents of the log into the database and delete the log. That costs two syncs
  /// and two deleted files, some five milliseconds at the end of every command with an emulator
  /// inside. The next opening reads a short log in less time than that (a mebibyte in about a
  /// millisecond), as it does after a kill. All committed data is kept either way.
  /// (https://www.sqlite.org/wal.html, "Avoiding Excessively Large WAL Files" and "WAL-Index
  /// Recovery")
  SqliteDatabase(Path file, ErrorMaker make_error, uint64_t log_bytes_kept = 1 << 20)
      : file_(std::move(file)), make_error_(make_error), log_bytes_kept_(log_bytes_kept) {}
  SqliteDatabase(const SqliteDatabase&) = delete;
  SqliteDatabase& operator=(const SqliteDatabase&) = delete;
  ~SqliteDatabase();

  /// kCreate makes the file if it is missing. kReadOnly changes no file, also while other processes
  /// write. Only if a write-ahead log lacks its index (a person moved the files), it makes the
  /// index.
  Status Open(Mode mode);
  const Path& file() const { return file_; }
  /// Runs statements that return no rows.
  Status Run(const char* sql);
  Status Prepare(SqliteStatement& statement, const char* sql);
  /// The same for a statement that most processes never use: it is compiled at its first use, and
  /// Step returns the error of that. `sql` must stay.
  void PrepareLater(SqliteStatement& statement, const char* sql) const;
  /// The number in the first column of the only row.
  Result<int64_t> Number(const char* sql);
  /// Writes the database, as this connection sees it, to a new file and syncs it. In a transaction
  /// that has read something, that is the state at that read.
  Status CopyTo(const Path& copy);
  /// The number of rows that the last statement changed.
  int64_t Changes() const;
  bool IsInTransaction() const;
  /// The Error of a call that returned `sqlite_code`.
  Error Failure(int sqlite_code) const;
  /// The Error of the last call, which failed.
  Error LastFailure() const { return LastFailure(make_error_); }
  Error LastFailure(ErrorMaker make_error) const;

 private:
  int OpenReadOnly();

  Path file_;
  ErrorMaker make_error_;
  uint64_t log_bytes_kept_;
  sqlite3* db_ = nullptr;
};

}  // namespace caip
