#pragma once
// The process of caip that enters a machine. Programs of the machine see it before it executes its
// program there, and root of the machine may look at it as at its own processes.

#include <sys/types.h>

namespace caip::host {

/// Executes this program again with the same arguments, from a read-only mount of its file, and
/// returns in it. Root of the machine may follow /proc/PROCESS/exe to that file of the host, and
/// could change its mode. Also returns where no such mount is possible: it takes Linux 5.12 and the
/// right to mount.
void RunFromReadOnlyMount();

/// Lets root become the user of the process, in the groups of that. The user namespace of the
/// process may have no ID for root. Other users stay who they are. False: that user has no ID here.
bool BecomeUserOf(pid_t process);

}  // namespace caip::host
