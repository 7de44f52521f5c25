#pragma once
// The access log: one line for each request, with the caller, the request and the result.

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/files.h"
#include "base/result.h"

namespace caip::front {

/// The facts of one line. AccessLine escapes texts that could break the line.
struct AccessEntry {
  Instant time;
  std::string identity;  // e-mail; "": unknown
  std::string job;       // "" none
  std::string replica;
  std::string method;
  std::string path;
  int status = 0;
  int64_t bytes = 0;  // of the answer's body
  Duration took{};
};

/// "2026-11-21T08:20:00.123Z a@b census_1/master-replica-0 GET /v1/... 200 123 0.8": unknown words
/// are "-", the last word is milliseconds.
std::string AccessLine(const AccessEntry& entry);

/// Appends lines to a file. At `size_max` the file becomes FILE.1 and a new one starts. Any thread.
/// Lines that cannot be written are dropped: a full disk must not stop the service.
///
/// A line is in the file when Write returns, except while lines come faster than one in `quiet`.
/// Then many lines are written together, at most kDelay later.
class AccessLog {
 public:
  static constexpr int64_t kSizeMax = 64 << 20;
  static constexpr Duration kQuiet = std::chrono::microseconds(300);
  static constexpr Duration kDelay = std::chrono::milliseconds(5);

  /// "-" is the standard output, to which each line is written at once.
  static Result<std::unique_ptr<AccessLog>> Open(const Path& file, int64_t size_max = kSizeMax,
                                                 Duration quiet = kQuiet);
  ~AccessLog();
  void Write(const AccessEntry& entry);

 private:
  AccessLog(Path file, int64_t size_max, Duration quiet);
  Status OpenFile();
  void Rotate();
  void WriteLater();
  void WriteWaiting();
  void WriteOften();

  const Path file_;
  const int64_t size_max_;
  const Duration quiet_;
  const bool is_standard_output_;
  std::mutex mutex_;  // guards all below, except the thread
  Fd fd_;
  int64_t size_ = 0;
  std::string waiting_;  // lines
  std::optional<MonotonicTime> written_;
  bool has_asked_ = false;  // the thread, to write
  bool ends_ = false;
  std::condition_variable changed_;
  std::thread writer_;  // started by the first line that waits
};

}  // namespace caip::front
