#pragma once
// SQLite connections and statements for the side store, which release what they hold.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/files.h"

struct sqlite3;
struct sqlite3_stmt;

namespace caip::gcs {

/// A prepared statement. One thread at a time; columns and parameters count from 0 and 1.
class Statement {
 public:
  Statement(sqlite3* database, const char* sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& Bind(int index, int64_t value);
  Statement& Bind(int index, std::string_view text);
  Statement& BindBytes(int index, std::string_view bytes);
  /// True with a row, false at the end; false with an error, too (see Failed).
  bool Step();
  bool Failed() const { return failed_; }
  /// Ready for the next use.
  void Reset();
  int64_t Int(int column) const;
  std::string Text(int column) const;

 private:
  sqlite3_stmt* statement_ = nullptr;
  bool failed_ = false;
};

/// A connection to a database file.
class Database {
 public:
  static Result<std::unique_ptr<Database>> Open(const Path& file);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  sqlite3* get() const { return database_; }
  Status Run(const char* sql);
  Error LastError(std::string_view what) const;
  /// True if the last failure means that the file is not a valid database.
  bool IsBroken() const;

 private:
  Database() = default;
  sqlite3* database_ = nullptr;
};

}  // namespace caip::gcs
