#include "emulator/front/access_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/text.h"

namespace caip::front {
namespace {

// A word of the line: no blank, no control character, never empty.
void AddWord(std::string_view word, std::string& line) {
  if (!line.empty()) line += ' ';
  if (word.empty()) line += '-';
  for (unsigned char c : word) {
    if (c > 0x20 && c != 0x7f) {
      line += static_cast<char>(c);
    } else {
      char escape[4];
      std::snprintf(escape, sizeof escape, "%%%02X", c);
      line += escape;
    }
  }
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
  char rest[64];
  std::snprintf(rest, sizeof rest, " %d %lld %.1f\n", entry.status,
                static_cast<long long>(entry.bytes),
                std::chrono::duration<double, std::milli>(entry.took).count());
  return line + rest;
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
  if (!fd_.valid())
    return SystemError("cannot write the access log '" + file_.string() + "'", errno);
  size_ = ::lseek(fd_.get(), 0, SEEK_END);
  return Ok{};
}

// Where the new file cannot be had, the old one goes on.
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
