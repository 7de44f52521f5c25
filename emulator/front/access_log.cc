#include "emulator/front/access_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/time_text.h"
#include "emulator/front/errors.h"

namespace caip::front {
namespace {

bool IsSafe(unsigned char c) { return c > 0x20 && c < 0x7f; }

// Adds a word without blanks, control characters and bytes beyond ASCII, which may be control
// characters of a terminal. "-" stands for an empty one.
void AddWord(std::string_view word, std::string& line) {
  if (!line.empty()) line += ' ';
  if (word.empty()) line += '-';
  while (!word.empty()) {
    const auto bad = std::find_if_not(word.begin(), word.end(), IsSafe);
    const auto safe = static_cast<size_t>(bad - word.begin());
    line.append(word.substr(0, safe));
    word.remove_prefix(safe);
    if (word.empty()) return;
    char escape[4];
    std::snprintf(escape, sizeof escape, "%%%02X", static_cast<unsigned char>(word.front()));
    line += escape;
    word.remove_prefix(1);
  }
}

// "0.8": rounded to the nearest tenth, ties down.
std::string MillisecondsOf(Duration took) {
  const int64_t tenths = (took + Duration(49'999)) / std::chrono::microseconds(100);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
}

}  // namespace

std::string AccessLine(const AccessEntry& entry) {
  std::string line;
  line.reserve(160);
  AddWord(Rfc3339(entry.time, 3), line);
  AddWord(entry.identity, line);
  AddWord(entry.job.empty() ? "" : entry.job + "/" + entry.replica, line);
  AddWord(entry.method, line);
  AddWord(entry.path, line);
  AddWord(std::to_string(entry.status), line);
  AddWord(std::to_string(entry.bytes), line);
  AddWord(MillisecondsOf(entry.took), line);
  line += '\n';
  return line;
}

Result<std::unique_ptr<AccessLog>> AccessLog::Open(const Path& file, int64_t size_max) {
  std::unique_ptr<AccessLog> log(new AccessLog(file, size_max));
  RETURN_IF_ERROR(log->OpenFile());
  return log;
}

Status AccessLog::OpenFile() {
  if (file_ == "-") {
    fd_ = Fd(::dup(STDOUT_FILENO));
    return Ok{};
  }
  fd_ = Fd(::open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!fd_.valid()) return errors::CannotWriteAccessLog(file_.string(), errno);
  size_ = ::lseek(fd_.get(), 0, SEEK_END);
  return Ok{};
}

// If the new file cannot be opened, the old one stays in use.
void AccessLog::Rotate() {
  Fd old = std::move(fd_);
  const Path kept = file_.string() + ".1";
  if (::rename(file_.c_str(), kept.c_str()) != 0 || !OpenFile().ok()) fd_ = std::move(old);
  size_ = 0;
}

void AccessLog::Write(const AccessEntry& entry) {
  const std::string line = AccessLine(entry);
  const std::lock_guard lock(mutex_);
  if (file_ != "-" && size_ + static_cast<int64_t>(line.size()) > size_max_) Rotate();
  const ssize_t written = ::write(fd_.get(), line.data(), line.size());
  if (written > 0) size_ += written;
}

}  // namespace caip::front
