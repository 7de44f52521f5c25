#include "fakes/logging/book/errors.h"

#include <sqlite3.h>

#include "base/quoting.h"

namespace caip::logging::errors {
namespace {

constexpr const char* kBeginAnew =
    "; move the file away (with its -wal and -shm neighbours) to begin a new one: it holds the "
    "lines that jobs printed, not the jobs";

bool IsDamage(int sqlite_code) {
  const int primary = sqlite_code & 0xff;
  return primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB;
}

Code CodeOf(int sqlite_code) {
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

Error Make(const char* what, const Path& file, int sqlite_code, const std::string& detail) {
  std::string message = std::string(what) + " the log " + Quoted(file.string()) + ": " + detail;
  if (IsDamage(sqlite_code))
    message = "The log " + Quoted(file.string()) + " is damaged: " + detail + kBeginAnew;
  return {CodeOf(sqlite_code), std::move(message)};
}

}  // namespace

Error CannotOpen(const Path& file, int sqlite_code, const std::string& detail) {
  return Make("Cannot open", file, sqlite_code, detail);
}

Error NotALogBook(const Path& file) {
  return {Code::kDataLoss, Quoted(file.string()) +
                               " is a database, but no log of caip's; was it put there by hand?" +
                               kBeginAnew};
}

Error MadeByNewerVersion(const Path& file, int version) {
  return {Code::kFailedPrecondition, "The log " + Quoted(file.string()) + " has format " +
                                         std::to_string(version) +
                                         ", which a newer caip made; use that one, or another "
                                         "state directory"};
}

Error CannotStore(const Path& file, int sqlite_code, const std::string& detail) {
  return Make("Cannot write", file, sqlite_code, detail);
}

Error CannotRead(const Path& file, int sqlite_code, const std::string& detail) {
  return Make("Cannot read", file, sqlite_code, detail);
}

Error ChunkDamaged(const Path& file, unsigned long long first_id) {
  return {Code::kDataLoss, "The log " + Quoted(file.string()) + " is damaged at entry " +
                               std::to_string(first_id) + ": its text is no JSON" + kBeginAnew};
}

Error WrittenDamaged(const Path& file, long long id) {
  return {Code::kDataLoss, "The log " + Quoted(file.string()) + " is damaged at row " +
                               std::to_string(id) + " of what clients wrote: its text is no JSON" +
                               kBeginAnew};
}

Error ResourceDamaged(const Path& file, const std::string& name) {
  return {Code::kDataLoss, "The log " + Quoted(file.string()) + " is damaged: the resource '" +
                               name + "' in it is no JSON" + kBeginAnew};
}

Error LogNotFound(const std::string& log_id) {
  return {Code::kNotFound, "Log " + log_id + " does not exist"};
}

}  // namespace caip::logging::errors
