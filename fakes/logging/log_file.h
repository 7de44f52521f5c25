#pragma once
// The SQLite file of the log book: rows in, rows out. log_book.h draws the table.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/files.h"

struct sqlite3;
struct sqlite3_stmt;

namespace caip::logging {

/// More are never in one chunk, so a reader knows where the chunk of an entry can begin.
inline constexpr uint64_t kChunkEntriesMax = 512;

/// A row.
struct Chunk {
  uint64_t first_id = 0;
  uint64_t last_id = 0;
  std::string project;
  std::string job_id;
  Instant first_time;
  Instant last_time;
  std::string entries;
};

/// Which rows may hold what is asked.
struct ChunkQuery {
  std::string project;
  std::string job_id;  // "": all
  uint64_t after_id = 0;
  Instant from = Instant::min();
  Instant until = Instant::max();
  bool newest_first = false;
};

/// The last entry of a job, or of the book.
struct LastEntry {
  uint64_t id = 0;
  Instant time = Instant::min();
};

/// One connection. One thread at a time.
class LogFile {
 public:
  static Result<LogFile> Open(const Path& file);
  LogFile(LogFile&& other) noexcept;
  LogFile& operator=(LogFile&&) = delete;
  ~LogFile();

  /// All or none, durable when it returns.
  Status Store(const std::vector<Chunk>& chunks);
  /// Hands out rows in the order of their ids until `take` returns false.
  Status Read(const ChunkQuery& query, const std::function<bool(const Chunk&)>& take);
  Result<LastEntry> Last(const std::string& project, const std::string& job_id);
  Result<uint64_t> LastId();
  const Path& path() const { return path_; }

 private:
  LogFile(const Path& path, sqlite3* database) : path_(path), database_(database) {}
  Status Prepare();
  Status CheckFormat();
  Status Run(const char* sql);
  Result<int> Number(const char* sql);
  Status Insert(const Chunk& chunk);
  /// A statement, compiled once. nullptr: see the connection's error.
  sqlite3_stmt* Statement(std::string_view sql);
  Error ReadError() const;

  Path path_;
  sqlite3* database_;
  std::map<std::string, sqlite3_stmt*, std::less<>> statements_;
};

}  // namespace caip::logging
