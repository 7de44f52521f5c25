#pragma once
// The connections that read the log book: one for each concurrent reader.

#include <memory>
#include <mutex>
#include <vector>

#include "fakes/logging/book/log_schema.h"

namespace caip::logging {

/// A pool of connections. Any thread. A long listing delays no other reader.
class LogReaders {
 public:
  explicit LogReaders(const Path& file) : path_(file) {}

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
  std::mutex mutex_;
  std::vector<std::unique_ptr<LogFile>> idle_;
};

}  // namespace caip::logging
