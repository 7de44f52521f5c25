#include "host/process/oom_count.h"

#include <chrono>
#include <cstdlib>

#include "base/files.h"

namespace caip::host {
namespace {

// A kill this long before a replica's start may count as one in its life.
constexpr auto kOomCountAge = std::chrono::milliseconds(20);

int64_t OomKillsOfHost() {
  const auto text = ReadFile("/proc/vmstat");
  if (!text.ok()) return 0;
  const size_t line = text->find("\noom_kill ");
  return line == std::string::npos ? 0 : std::atoll(text->c_str() + line + 10);
}

}  // namespace

int64_t OomCount::Now() const { return ask_ ? ask_() : OomKillsOfHost(); }

int64_t OomCount::Recent() {
  if (ask_) return ask_();
  const auto now = MonotonicNow();
  if (now - read_ > kOomCountAge) {
    count_ = OomKillsOfHost();
    read_ = now;
  }
  return count_;
}

}  // namespace caip::host
