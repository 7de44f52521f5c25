#include "fakes/logging/book/errors.h"

#include "base/quoting.h"

namespace caip::logging::errors {
namespace {

constexpr const char* kStartNewLog =
    ". To start a new log, move the file and its -wal and -shm files away. They hold the lines "
    "that jobs printed, not the jobs.";

Error DatabaseError(const char* what, Code code, const Path& file, std::string_view detail) {
  const std::string log = "log " + Quoted(file.string());
  const std::string why = ": " + std::string(detail);
  if (code == Code::kDataLoss) return {code, "The " + log + " is damaged" + why + kStartNewLog};
  return {code, std::string(what) + " the " + log + why};
}

}  // namespace

Error CannotOpen(Code code, const Path& file, std::string_view detail) {
  return DatabaseError("Cannot open", code, file, detail);
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

Error CannotStore(Code code, const Path& file, std::string_view detail) {
  return DatabaseError("Cannot write", code, file, detail);
}

Error CannotRead(Code code, const Path& file, std::string_view detail) {
  return DatabaseError("Cannot read", code, file, detail);
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

Error ClientGone() { return {Code::kCancelled, "The client has closed the connection."}; }

}  // namespace caip::logging::errors
