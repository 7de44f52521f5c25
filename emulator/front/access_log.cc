#include "emulator/front/access_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/time_text.h"
#include "emulator/front/errors.h"
#include "http/scheduling.h"

namespace caip::front {
namespace {

constexpr size_t kWaitingBytesMax = 64 << 10;

bool IsSafe(unsigned char c) { return c > 0x20 && c < 0x7f; }

// Adds a word without blanks, control characters and bytes beyond ASCII, which may be control
// characters of a terminal. "-" stands for an empty one.
void AddWord(std::string_view word, std::string& line) {
  if (!line.empty()) line += ' ';
  if (word.empty()) line += '-';
  while (!word.empty()) {
    size_t safe = 0;
    while (safe < word.size() && IsSafe(static_cast<unsigned char>(word[safe]))) ++safe;
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

AccessLog::AccessLog(Path file, int64_t size_max, Duration quiet)
    : file_(std::move(file)),
      size_max_(size_max),
      quiet_(quiet),
      is_standard_output_(file_ == "-") {}

Result<std::unique_ptr<AccessLog>> AccessLog::Open(const Path& file, int64_t size_max,
                                                   Duration quiet) {
  std::unique_ptr<AccessLog> log(new AccessLog(file, size_max, quiet));
  RETURN_IF_ERROR(log->OpenFile());
  return log;
}

AccessLog::~AccessLog() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_one();
  if (writer_.joinable()) writer_.join();
  WriteWaiting();
}

Status AccessLog::OpenFile() {
  if (is_standard_output_) {
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
  const MonotonicTime now = MonotonicNow();
  const std::lock_guard lock(mutex_);
  waiting_ += line;
  const bool is_soon = written_ && now - *written_ < quiet_;
  if (is_soon && waiting_.size() < kWaitingBytesMax && !is_standard_output_) return WriteLater();
  WriteWaiting();
  written_ = now;
}

// The caller holds the mutex.
void AccessLog::WriteLater() {
  if (has_asked_) return;
  has_asked_ = true;
  if (!writer_.joinable()) writer_ = std::thread([this] { WriteOften(); });
  changed_.notify_one();
}

void AccessLog::WriteOften() {
  http::ScheduleAsUsual();
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return has_asked_ || ends_; });
    if (changed_.wait_for(lock, kDelay, [this] { return ends_; })) return;
    WriteWaiting();
    written_ = MonotonicNow();
    has_asked_ = false;
  }
}

// The caller holds the mutex, or no other thread is left.
void AccessLog::WriteWaiting() {
  if (waiting_.empty()) return;
  const auto length = static_cast<int64_t>(waiting_.size());
  if (!is_standard_output_ && size_ + length > size_max_) Rotate();
  const ssize_t written = ::write(fd_.get(), waiting_.data(), waiting_.size());
  if (written > 0) size_ += written;
  waiting_.clear();
}

}  // namespace caip::front
