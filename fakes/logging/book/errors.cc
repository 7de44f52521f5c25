#include "fakes/logging/book/errors.h"

#include <sqlite3.h>

#include "base/quoting.h"

namespace caip::logging::errors {
namespace {

constexpr const char* kStartNewLog =
    ". To start a new log, move the file and its -wal and -shm files away. They hold the lines "
    "that "
    "jobs printed, not the jobs.";

bool IsDamage(int sqlite_code) {
  const int primary = sqlite_code & 0xff;
  return primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB;
}

Code CodeOfSqlite(int sqlite_code) {
  switch (sqlite_code & 0xff) {
    case SQLITE_FULL:
      return Code::kResourceExhausted;
    case SQLITE_PERM:
    case SQLITE_READONLY:
      return Code::kPermissionDenied;
    case SQLITE_CANTOPEN:
      return Code::kNotFound;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Code::kUnavailable;
    default:
      return IsDamage(sqlite_code) ? Code::kDataLoss : Code::kInternal;
  }
}

Error DatabaseError(const char* what, const Path& file, int sqlite_code,
                    const std::string& detail) {
  std::string message = std::string(what) + " the log " + Quoted(file.string()) + ": " + detail;
  if (IsDamage(sqlite_code))
    message = "The log " + Quoted(file.string()) + " is damaged: " + detail + kStartNewLog;
  return {CodeOfSqlite(sqlite_code), std::move(message)};
}

}  // namespace

Error CannotOpen(const Path& file, int sqlite_code, const std::string& detail) {
  return DatabaseError("Cannot open", file, sqlite_code, detail);
}

Error NotALogBook(const Path& file) {
  return {Code::kDataLoss,
          Quoted(file.string()) + " is a database, but not a log of caip" + kStartNewLog};
}

Error MadeByNewerVersion(const Path& file, int version) {
  return {Code::kFailedPrecondition,
          "The log " + Quoted(file.string()) + " has format " + std::to_string(version) +
              ", which a newer version of caip made. Use that version, or "
              "another state directory."};
}

Error CannotStore(const Path& file, int sqlite_code, const std::string& detail) {
  return DatabaseError("Cannot write", file, sqlite_code, detail);
}

Error CannotRead(const Path& file, int sqlite_code, const std::string& detail) {
  return DatabaseError("Cannot read", file, sqlite_code, detail);
}

Error ChunkDamaged(const Path& file, unsigned long long first_id) {
  return {Code::kDataLoss, "The log " + Quoted(file.string()) + " is damaged at entry " +
                               std::to_string(first_id) + ": its text is not JSON" + kStartNewLog};
}

Error WrittenDamaged(const Path& file, long long id) {
  return {Code::kDataLoss, "The log " + Quoted(file.string()) + " is damaged at row " +
                               std::to_string(id) +
                               " of the written entries: its text is not JSON" + kStartNewLog};
}

Error ResourceDamaged(const Path& file, const std::string& name) {
  return {Code::kDataLoss, "The log " + Quoted(file.string()) + " is damaged: the resource '" +
                               name + "' is not JSON" + kStartNewLog};
}

Error LogNotFound(const std::string& log_id) {
  return {Code::kNotFound, "Log " + log_id + " does not exist"};
}

}  // namespace caip::logging::errors
