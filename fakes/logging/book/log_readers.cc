#include "fakes/logging/book/log_readers.h"

#include <utility>

namespace caip::logging {
namespace {

constexpr size_t kIdleMax = 4;

}  // namespace

Result<std::unique_ptr<LogFile>> LogReaders::Borrow() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto file = std::move(idle_.back());
      idle_.pop_back();
      return file;
    }
  }
  ASSIGN_OR_RETURN(LogFile opened, OpenLogFile(path_));
  return std::make_unique<LogFile>(std::move(opened));
}

void LogReaders::Return(std::unique_ptr<LogFile> file) {
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kIdleMax) idle_.push_back(std::move(file));
}

}  // namespace caip::logging
