#pragma once
// The SQLite file of the log book: one connection, its statements, and the rows of chunks.
// log_schema.cc lists the tables.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/sqlite.h"
#include "fakes/logging/book/entry.h"

namespace caip::logging {

/// The most entries in one chunk. A reader derives from it where the chunk of an entry can begin.
inline constexpr uint64_t kChunkEntriesMax = 512;
/// The longest time between two entries of one chunk. A reader derives from it how early a chunk
/// can begin.
inline constexpr Duration kChunkSpanMax = std::chrono::milliseconds(100);

// Names of settings.
inline const std::string kLastIdSetting = "last_id";  // of entries, when a log was last deleted
inline const std::string kLastWrittenSetting = "last_written";
inline const std::string kSpanSetting = "span";  // the longest of chunks of older versions

/// A row of job entries.
struct Chunk {
  uint64_t first_id = 0;
  uint64_t last_id = 0;
  std::string project;
  std::string job_id;
  Instant first_time;
  Instant last_time;
  std::string entries;
  uint32_t severities = 0;         // the severities in it, as bits (SeverityBit)
  std::vector<std::string> tasks;  // the tasks in it
};

/// Selects the chunks that can hold certain entries.
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

/// One connection to the file. One thread at a time.
class LogFile {
 public:
  /// Opens or creates the file. The caller prepares its tables: OpenLogFile in log_schema.h.
  static Result<LogFile> Open(const Path& file, const JobLogNames& names);
  LogFile(LogFile&&) noexcept = default;
  LogFile& operator=(LogFile&&) = delete;

  /// Runs `body` in a transaction: all its changes are durable when this returns, or none is made.
  Status Write(const std::function<Status()>& body);
  /// Runs `body` on one consistent state of the file.
  Status ReadSnapshot(const std::function<Status()>& body);

  // Inside Write.
  Status InsertChunk(const Chunk& chunk);
  Status ReplaceChunk(const Chunk& chunk);
  Status RemoveChunk(uint64_t first_id);

  /// Passes chunks in the order of their ids to `take` until it returns false.
  Status ReadChunks(const ChunkQuery& query, const std::function<bool(const Chunk&)>& take);
  Result<LastEntry> LastOfJob(const std::string& project, const std::string& job_id);
  /// The greatest insert id that any entry ever had.
  Result<uint64_t> LastInsertId();
  /// A number stored under a name; 0 if there is none.
  Result<int64_t> Setting(const std::string& name);
  Status SetSetting(const std::string& name, int64_t value);

  const Path& path() const { return database_->file(); }
  const JobLogNames& names() const { return names_; }
  /// Runs a text of several statements, or one that is used only once.
  Status Execute(const char* sql);

 private:
  friend class SqlQuery;
  LogFile(const Path& file, const JobLogNames& names);
  SqliteStatement* FindStatement(std::string_view sql);  // nullptr: see LastError()
  Error LastError() const;
  Status PutChunk(std::string_view sql, const Chunk& chunk);
  void RollBack();

  std::unique_ptr<SqliteDatabase> database_;
  JobLogNames names_;
  bool writing_ = false;
  std::map<std::string, SqliteStatement, std::less<>> statements_;  // destroyed before database_
};

/// One use of a compiled SQL statement: binds values, steps, and resets the statement at the end.
/// Used by the thread of its file.
class SqlQuery {
 public:
  /// The file compiles `sql` once and keeps it. Two queries with the same text must not exist at
  /// the same time.
  SqlQuery(LogFile& file, std::string_view sql);
  SqlQuery(const SqlQuery&) = delete;
  SqlQuery& operator=(const SqlQuery&) = delete;
  ~SqlQuery();

  SqlQuery& Bind(int place, int64_t number);
  SqlQuery& Bind(int place, uint64_t number);
  SqlQuery& Bind(int place, Instant time);
  SqlQuery& Bind(int place, const std::string& text);

  /// Steps to the next row. False at the end, and on a failure that `status()` then reports.
  bool Next();
  /// Runs a statement that returns no rows.
  Status Run();
  /// The outcome of the last Next().
  Status status() const;

  int64_t Number(int column) const;
  Instant Time(int column) const;
  std::string Text(int column) const;

 private:
  LogFile& file_;
  SqliteStatement* statement_;
  int code_;
};

}  // namespace caip::logging
