#pragma once
// The SQLite file of the log book: rows in, rows out. log_schema.cc draws the tables.

#include <functional>
#include <map>
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
/// A chunk's entries are never further apart, so a reader knows where a chunk can begin in time.
inline constexpr Duration kChunkSpanMax = std::chrono::milliseconds(100);

/// A row.
struct Chunk {
  uint64_t first_id = 0;
  uint64_t last_id = 0;
  std::string project;
  std::string job_id;
  Instant first_time;
  Instant last_time;
  std::string entries;
  uint32_t severities = 0;         // which occur in it: SeverityBit
  std::vector<std::string> tasks;  // which occur in it
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

  /// What `body` writes is stored all or none, and durable when this returns.
  Status Write(const std::function<Status()>& body);
  /// All that `body` reads is of one moment.
  Status ReadAtOnce(const std::function<Status()>& body);
  /// Inside Write.
  Status Insert(const Chunk& chunk);
  Status Replace(const Chunk& chunk);
  Status Remove(uint64_t first_id);

  /// Hands out rows in the order of their ids until `take` returns false.
  Status Read(const ChunkQuery& query, const std::function<bool(const Chunk&)>& take);
  Result<LastEntry> Last(const std::string& project, const std::string& job_id);
  /// The greatest insert id that was ever given.
  Result<uint64_t> LastId();
  /// A number that is kept under a name; 0 when there is none.
  Result<int64_t> Setting(const std::string& name);
  Status SetSetting(const std::string& name, int64_t value);

  const Path& path() const { return path_; }
  /// A statement, compiled once. nullptr: see LastError().
  sqlite3_stmt* Statement(std::string_view sql);
  /// What SQLite's last complaint means for the user.
  Error LastError() const;
  /// For a text of several statements, or of none that is worth keeping.
  Status Run(const char* sql);

 private:
  LogFile(const Path& path, sqlite3* database) : path_(path), database_(database) {}
  Status Prepare();
  Status PutChunk(std::string_view sql, const Chunk& chunk);
  void RollBack();

  Path path_;
  sqlite3* database_;
  bool writing_ = false;
  std::map<std::string, sqlite3_stmt*, std::less<>> statements_;
};

}  // namespace caip::logging
