#pragma once
// The access log: one line for each request, with the caller, the request and the result.

#include <memory>
#include <mutex>
#include <string>

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
class AccessLog {
 public:
  static constexpr int64_t kSizeMax = 64 << 20;

  /// "-" is the standard output.
  static Result<std::unique_ptr<AccessLog>> Open(const Path& file, int64_t size_max = kSizeMax);
  void Write(const AccessEntry& entry);

 private:
  AccessLog(Path file, int64_t size_max) : file_(std::move(file)), size_max_(size_max) {}
  Status OpenFile();
  void Rotate();

  Path file_;
  int64_t size_max_;
  std::mutex mutex_;
  Fd fd_;
  int64_t size_ = 0;
};

}  // namespace caip::front
