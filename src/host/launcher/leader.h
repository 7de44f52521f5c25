#pragma once
// Starting the user's command: the leader of a replica's session and main process group.

#include <sys/types.h>

#include "host/launcher/namespaces.h"
#include "host/launcher/protocol.h"

namespace caip::host::launcher {

struct LeaderStart {
  pid_t pid = -1;
  Step failed = Step::kNone;  // kNone: it runs
  int error = 0;
};

/// Whether the new process is to be watched, and whom it tells.
struct Watching {
  uint32_t watch = 0;  // protocol.h
  int socket = -1;
  uint64_t replica = 0;
};

/// Starts the recipe's command in a session of its own, where `home` has namespaces in those and in
/// mount and UTS namespaces of its own, in the recipe's directory, with exactly the environment,
/// /dev/null as input, `out` and `err` as output, no other descriptor, no blocked signal, and to be
/// killed when we die. Returns when the program runs or has failed to.
LeaderStart StartLeader(const Recipe& recipe, const Namespaces& home, int out, int err,
                        const Watching& watching);

}  // namespace caip::host::launcher
