#pragma once
// The descriptors that a process keeps open. Makes only system calls, so that a fork of a process
// with several threads can use it.

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>

namespace caip::host::launcher {

/// Closes the descriptors from `first` to `last`.
inline void CloseRange(unsigned first, unsigned last) {
  constexpr unsigned kOldKernelLast = 1u << 16;
  if (first > last || ::syscall(SYS_close_range, first, last, 0u) == 0 || errno != ENOSYS) return;
  for (unsigned fd = first; fd <= std::min(last, kOldKernelLast); ++fd) {  // before Linux 5.9
    ::close(static_cast<int>(fd));
  }
}

/// Closes all descriptors but the standard ones and these; -1: none.
template <size_t kCount>
void CloseAllBut(std::array<int, kCount> kept) {
  std::sort(kept.begin(), kept.end());
  unsigned next = STDERR_FILENO + 1;
  for (const int fd : kept) {
    if (fd < static_cast<int>(next)) continue;
    const auto number = static_cast<unsigned>(fd);
    if (number > next) CloseRange(next, number - 1);
    next = number + 1;
  }
  CloseRange(next, ~0u);
}

}  // namespace caip::host::launcher
