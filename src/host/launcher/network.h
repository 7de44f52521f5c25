#pragma once
// A network of a run's own: a network namespace whose only way out are sockets that were made in it
// and are served from outside. No process stays alive for it.

#include <cstdint>

#include "host/launcher/namespaces.h"
#include "host/launcher/protocol.h"

namespace caip::host::launcher {

struct NewNetwork {
  Namespaces namespaces = {};
  Step failed = Step::kNetwork;  // kNone: it is there
  int error = 0;
};

/// Makes it, with a user namespace around it where we may not else, and sends its doors' sockets to
/// `caip`. `doors` is a memory file of Door structs. `rehearse`: a replica's mounts are tried, too.
NewNetwork MakeNetwork(uint64_t number, int doors, int caip, bool rehearse);

}  // namespace caip::host::launcher
