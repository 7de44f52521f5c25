// What a process launcher takes of this host where nobody tells it otherwise.

#include <cstdlib>

#include "host/process/oom_count.h"
#include "host/process/process_launcher.h"

namespace caip::host {

Path LauncherBesideUs() {
  std::error_code error;
  const Path self = std::filesystem::read_symlink("/proc/self/exe", error);
  return self.parent_path() / "caip-launcher";
}

namespace {

// A kill for want of memory this long before a replica's start may count as one in its life.
constexpr auto kOomKillsAge = std::chrono::milliseconds(20);

}  // namespace

int64_t OomCount::Now() const { return asked_ ? asked_() : OomKillsOfHost(); }

int64_t OomCount::Lately() {
  if (asked_) return asked_();
  const auto now = std::chrono::steady_clock::now();
  if (now - read_ > kOomKillsAge) {
    count_ = OomKillsOfHost();
    read_ = now;
  }
  return count_;
}

int64_t OomKillsOfHost() {
  const auto text = ReadFile("/proc/vmstat");
  if (!text.ok()) return 0;
  const size_t line = text->find("\noom_kill ");
  return line == std::string::npos ? 0 : std::atoll(text->c_str() + line + 10);
}

}  // namespace caip::host
