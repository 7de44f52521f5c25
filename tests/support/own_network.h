#pragma once
// A process with a network of its own, in which a test can take any port.

#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <optional>

#include "base/files.h"

namespace caip::host {

/// Runs `body` in a child process whose network has only a loopback device, which is up. Returns
/// the exit status that `body` returns, or 255 if a signal ended it. nullopt: this host has no
/// network namespaces for this user.
inline std::optional<int> RunInOwnNetwork(int (*body)()) {
  constexpr int kNoNetwork = 77;
  const pid_t child = ::fork();
  if (child == 0) {
    const int user = ::geteuid() == 0 ? 0 : CLONE_NEWUSER;
    if (::unshare(CLONE_NEWNET | user) != 0) ::_exit(kNoNetwork);
    ifreq up{};
    std::snprintf(up.ifr_name, sizeof up.ifr_name, "lo");
    up.ifr_flags = IFF_UP | IFF_LOOPBACK | IFF_RUNNING;
    const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (::ioctl(socket.get(), SIOCSIFFLAGS, &up) != 0) ::_exit(kNoNetwork);
    ::_exit(body());
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 255;
  return WEXITSTATUS(status) == kNoNetwork ? std::nullopt : std::optional(WEXITSTATUS(status));
}

}  // namespace caip::host
