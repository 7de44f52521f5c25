#pragma once
// Starting the user's command: the leader of a replica's session and main process group.

#include <sys/types.h>

#include "host/launcher/protocol.h"
#include "host/launcher/recipe.h"

namespace caip::host::launcher {

struct LeaderStart {
  pid_t pid = -1;
  Step failed = Step::kNone;  // kNone: it runs
  int error = 0;
};

/// Starts the recipe's command in a session of its own, in the recipe's directory, with exactly the
/// recipe's environment, /dev/null as input, `out` and `err` as output, no other descriptor, no
/// blocked signal, and to be killed when we die. Returns when the program runs or has failed to.
LeaderStart StartLeader(const Recipe& recipe, int out, int err);

}  // namespace caip::host::launcher
