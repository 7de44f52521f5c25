#include "base/descriptor_limit.h"

#include <sys/resource.h>

namespace caip {
namespace {

rlimit first_limit{};
bool is_raised = false;

}  // namespace

uint64_t DescriptorLimit() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

void RaiseDescriptorLimit() {
  if (is_raised || ::getrlimit(RLIMIT_NOFILE, &first_limit) != 0) return;
  const rlimit raised{.rlim_cur = first_limit.rlim_max, .rlim_max = first_limit.rlim_max};
  is_raised = ::setrlimit(RLIMIT_NOFILE, &raised) == 0;
}

void RestoreDescriptorLimit(pid_t child) {
  if (is_raised) ::prlimit(child, RLIMIT_NOFILE, &first_limit, nullptr);
}

}  // namespace caip
