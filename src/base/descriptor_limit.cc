#include "base/descriptor_limit.h"

#include <sys/resource.h>

#include <atomic>
#include <filesystem>
#include <system_error>

namespace caip {
namespace {

rlimit first_limit{};
bool is_raised = false;
std::atomic<uint64_t> shortages{0};

}  // namespace

uint64_t DescriptorLimit() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

uint64_t DescriptorShortages() { return shortages; }

uint64_t FreeDescriptors() {
  std::error_code error;
  uint64_t used = 0;
  for (std::filesystem::directory_iterator open("/proc/self/fd", error), end; open != end;
       open.increment(error)) {
    ++used;
  }
  const uint64_t limit = DescriptorLimit();
  const bool is_full =
      error == std::errc::too_many_files_open || error == std::errc::too_many_files_open_in_system;
  if (error) return is_full ? 0 : limit;
  return used > limit ? 0 : limit - used;
}

void NoteDescriptorShortage() { ++shortages; }

void RaiseDescriptorLimit() {
  if (is_raised || ::getrlimit(RLIMIT_NOFILE, &first_limit) != 0) return;
  const rlimit raised{.rlim_cur = first_limit.rlim_max, .rlim_max = first_limit.rlim_max};
  is_raised = ::setrlimit(RLIMIT_NOFILE, &raised) == 0;
}

void RestoreDescriptorLimit(pid_t child) {
  if (is_raised) ::prlimit(child, RLIMIT_NOFILE, &first_limit, nullptr);
}

}  // namespace caip
