#include "host/machine/other_users.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <sstream>
#include <string>

#include "base/files.h"
#include "base/text.h"

namespace caip::host {
namespace {

// Whether the ID is in the user namespace of this process. The lines of a map are the first ID, the
// ID that it is in the outer namespace, and how many follow it. A kernel without user namespaces
// has no maps.
bool HasId(const Path& map, uint32_t id) {
  if (id == ~0u) return true;  // no user: to become it fails
  const auto text = ReadFile(map);
  if (!text.ok()) return true;
  std::istringstream lines(*text);
  uint64_t first = 0;
  uint64_t outer = 0;
  uint64_t count = 0;
  while (lines >> first >> outer >> count) {
    if (id >= first && id - first < count) return true;
  }
  return false;
}

// A namespace that a user without rights made does not let its processes leave groups.
bool MaySetGroups() {
  const auto text = ReadFile(Path("/proc/self/setgroups"));
  return !text.ok() || Trim(*text) != "deny";
}

// Without that right, the launcher makes a user namespace with root alone (networks.cc).
bool MayMakeNamespaces() {
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {};
  const bool is_known = ::syscall(SYS_capget, &head, sets) == 0;
  return !is_known || (sets[0].effective & (1u << CAP_SYS_ADMIN)) != 0;
}

}  // namespace

bool MayBecome(uint32_t user, uint32_t group) {
  if (::geteuid() != 0) return false;
  if (user == 0 && group == 0) return true;
  if (!MayMakeNamespaces()) return false;
  return MaySetGroups() && HasId("/proc/self/uid_map", user) && HasId("/proc/self/gid_map", group);
}

}  // namespace caip::host
