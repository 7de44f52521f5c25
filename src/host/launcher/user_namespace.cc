#include "host/launcher/user_namespace.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace caip::host::launcher {
namespace {

bool WriteSetting(const char* path, const char* text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool whole =
      ::write(fd, text, std::strlen(text)) == static_cast<ssize_t>(std::strlen(text));
  const int error = errno;
  ::close(fd);
  errno = error;
  return whole;
}

// A line of a map: one ID of the new namespace, and the ID that it is in the old one.
bool WriteMap(const char* path, uint32_t inside, uint32_t outside) {
  char line[64];
  std::snprintf(line, sizeof line, "%u %u 1", inside, outside);
  return WriteSetting(path, line);
}

}  // namespace

// The kernel takes a group from a process without rights only if the process cannot leave groups,
// which may be denied files.
Outcome MoveToUserNamespace(uid_t user, gid_t group) {
  const uid_t outer_user = ::geteuid();
  const gid_t outer_group = ::getegid();
  if (::unshare(CLONE_NEWUSER) != 0) return {Step::kMachine, errno};
  const bool mapped = WriteSetting("/proc/self/setgroups", "deny") &&
                      WriteMap("/proc/self/uid_map", user, outer_user) &&
                      WriteMap("/proc/self/gid_map", group, outer_group);
  return mapped ? Outcome{} : Outcome{Step::kUserMap, errno};
}

}  // namespace caip::host::launcher
