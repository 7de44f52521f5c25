#pragma once
// Removes what a replica has started outside of its tree of processes, where this program cannot
// kill it: the container of a daemon.

#include "host/launcher/protocol.h"

namespace caip::host::launcher {

/// Runs the removal command of a recipe, which has one. True if the command has succeeded. A try
/// that takes too long is killed. While caip lives, which has the other end of the socket, the
/// command is tried once: caip repeats a failed removal, and reports the reason. Otherwise failed
/// tries are repeated for a limited time, until another process kills one: the next emulator on the
/// state directory does so, and then removes what is left. SIGCHLD must be blocked.
bool RunRemoval(const Recipe& recipe, int socket);

}  // namespace caip::host::launcher
