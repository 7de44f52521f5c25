#pragma once
// Putting a process into namespaces (man 7 namespaces).

#include <cstdint>

#include "host/launcher/protocol.h"

namespace caip::host::launcher {

/// The namespaces that the replicas of a run share; -1 where it is the host's.
struct Namespaces {
  int user = -1;  // -1 where the launcher could do without
  int network = -1;
  bool any() const { return network >= 0; }
};

void CloseNamespaces(const Namespaces& namespaces);

/// The calling process joins them, and gets mount and UTS namespaces of its own, where `hosts_file`
/// lies over /etc/hosts and the host is called `host_name`. kNone, or where it failed, with errno.
/// System calls only: our memory may be borrowed.
Step MoveInto(const Namespaces& namespaces, const char* hosts_file, const char* host_name);

/// The second half of MoveInto.
Step GetOwnHost(const char* hosts_file, const char* host_name);

// A network of a run's own: a network namespace whose only way out are sockets that were made in it
// and are served from outside. No process stays alive for it.

struct NewNetwork {
  Namespaces namespaces = {};
  Step failed = Step::kNetwork;  // kNone: it is there
  int error = 0;
};

/// Makes it, with a user namespace around it where we may not else, and sends its doors' sockets to
/// `caip`. `doors` is a memory file of Door structs. `rehearse`: a replica's mounts are tried, too.
NewNetwork MakeNetwork(uint64_t number, int doors, int caip, bool rehearse);

}  // namespace caip::host::launcher
