#include "host/launcher/namespaces.h"

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstring>

namespace caip::host::launcher {

void CloseNamespaces(const Namespaces& namespaces) {
  if (namespaces.user >= 0) ::close(namespaces.user);
  if (namespaces.network >= 0) ::close(namespaces.network);
}

Step MoveInto(const Namespaces& namespaces, const char* hosts_file, const char* host_name) {
  // The user namespace first: it gives the rights that the rest needs, until the exec.
  if (namespaces.user >= 0 && ::setns(namespaces.user, CLONE_NEWUSER) != 0) {
    return Step::kEnterNetwork;
  }
  if (::setns(namespaces.network, CLONE_NEWNET) != 0) return Step::kEnterNetwork;
  return GetOwnHost(hosts_file, host_name);
}

Step GetOwnHost(const char* hosts_file, const char* host_name) {
  if (::unshare(CLONE_NEWNS | CLONE_NEWUTS) != 0) return Step::kMounts;
  // What the host mounts later is seen here, too; nothing of ours is seen there.
  if (::mount("none", "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) return Step::kMounts;
  if (::mount(hosts_file, "/etc/hosts", nullptr, MS_BIND, nullptr) != 0) return Step::kHosts;
  if (::sethostname(host_name, std::strlen(host_name)) != 0) return Step::kHostName;
  return Step::kNone;
}

}  // namespace caip::host::launcher
