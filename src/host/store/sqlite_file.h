#pragma once
// SQLite with typed doors, for the stores of this folder. The library's own header stays in
// sqlite_file.cc and in the files with statements.

#include <cstdint>
#include <string>

#include "base/files.h"
#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace caip::host {

/// A prepared statement. Belongs to one connection, and goes before it.
class Statement {
 public:
  Statement() = default;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement();

  int Prepare(sqlite3* db, const char* sql);
  Statement& Bind(int at, const std::string& text);
  Statement& Bind(int at, int64_t number);
  /// NaN is kept as NULL: SQLite has no other.
  Statement& Bind(int at, double number);
  int Step();
  std::string Text(int column) const;
  int64_t Integer(int column) const;
  double Real(int column) const;
  void Reset();

 private:
  sqlite3_stmt* statement_ = nullptr;
};

/// Resets on leaving, so that no read transaction stays open behind a returned row.
class Use {
 public:
  explicit Use(Statement& statement) : statement_(statement) {}
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  ~Use() { statement_.Reset(); }
  Statement* operator->() { return &statement_; }

 private:
  Statement& statement_;
};

/// A connection to one file. One thread at a time.
class SqliteFile {
 public:
  explicit SqliteFile(Path file) : file_(std::move(file)) {}
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;
  virtual ~SqliteFile();

  Status Open(int flags);
  Error Failure(int code) const;
  Status Run(const char* sql);
  Status Prepare(Statement& statement, const char* sql);
  Result<int64_t> Number(const char* sql);
  const Path& file() const { return file_; }
  sqlite3* db() { return db_; }

 private:
  Path file_;
  sqlite3* db_ = nullptr;
};

}  // namespace caip::host
