#pragma once
// The namespaces of runs and replicas (man 7 namespaces).

#include <cstdint>
#include <vector>

#include "host/launcher/protocol.h"

namespace caip::host::launcher {

/// The namespaces that the replicas of a run share. -1: the host's.
struct Namespaces {
  int user = -1;  // -1 if the launcher does not need one
  int network = -1;
  bool any() const { return network >= 0; }
};

void CloseNamespaces(const Namespaces& namespaces);

/// Moves the calling process into `namespaces`, and into its own mount and UTS namespaces, which
/// have `covers` and in which the host has the name `host_name`. Returns kNone, or the failed step
/// with errno. Makes only system calls, because the memory may belong to the parent process.
Step MoveInto(const Namespaces& namespaces, const std::vector<Cover>& covers,
              const char* host_name);

/// The second half of MoveInto.
Step GetOwnHost(const std::vector<Cover>& covers, const char* host_name);

struct NewNetwork {
  Namespaces namespaces = {};
  Step failed = Step::kNetwork;  // kNone: the network exists
  int error = 0;
};

/// Creates a network of a run's own: a network namespace whose only connections to the outside are
/// listening sockets (endpoints), which are created inside and served from outside. No process
/// stays alive for it. Creates a user namespace, too, if that is necessary. Sends the endpoints'
/// sockets to `caip`. `endpoints` is a memory file of Endpoint structs. `try_start`: also try a
/// replica's mounts.
NewNetwork MakeNetwork(uint64_t number, int endpoints, int caip, bool try_start);

}  // namespace caip::host::launcher
