#pragma once
// Connections for those who read the log book: as many as read at a time.

#include <memory>
#include <mutex>
#include <vector>

#include "fakes/logging/book/log_file.h"

namespace caip::logging {

/// Any thread. A long listing holds up no other reader.
class LogReaders {
 public:
  explicit LogReaders(const Path& file) : path_(file) {}

  /// What `read` says of a connection that is its own meanwhile.
  template <typename Read>
  auto With(const Read& read) -> decltype(read(std::declval<LogFile&>())) {
    auto file = Borrow();
    if (!file.ok()) return file.error();
    auto answer = read(**file);
    GiveBack(std::move(file).value());
    return answer;
  }

 private:
  Result<std::unique_ptr<LogFile>> Borrow();
  void GiveBack(std::unique_ptr<LogFile> file);

  Path path_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<LogFile>> idle_;
};

}  // namespace caip::logging
