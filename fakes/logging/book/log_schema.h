#pragma once
// The tables of a log book, how an older file gets them, and the connections that read them.

#include <memory>
#include <mutex>
#include <vector>

#include "fakes/logging/book/log_file.h"

namespace caip::logging {

/// The schema that OpenLogFile writes (PRAGMA user_version).
inline constexpr int64_t kLogFileVersion = 2;

/// Opens a log book's file: creates its tables if it is new, and upgrades an older one. kDataLoss:
/// the file is not a log book; kFailedPrecondition: a newer version of caip made it.
Result<LogFile> OpenLogFile(const Path& path, const JobLogNames& names);

/// A pool of connections that read the log book, one for each concurrent reader, so that a long
/// listing does not delay other readers. Any thread.
class LogReaders {
 public:
  LogReaders(const Path& file, const JobLogNames& names) : path_(file), names_(names) {}

  /// Calls `read` with a connection that no other thread uses, and returns its result.
  template <typename Read>
  auto With(const Read& read) -> decltype(read(std::declval<LogFile&>())) {
    auto file = Borrow();
    if (!file.ok()) return file.error();
    auto result = read(**file);
    Return(std::move(file).value());
    return result;
  }

 private:
  Result<std::unique_ptr<LogFile>> Borrow();
  void Return(std::unique_ptr<LogFile> file);

  Path path_;
  JobLogNames names_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<LogFile>> idle_;
};

}  // namespace caip::logging
