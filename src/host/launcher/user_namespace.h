#pragma once
// User namespaces that hold one user and one group (man 7 user_namespaces).

#include <sys/types.h>

#include "host/launcher/networks.h"

namespace caip::host::launcher {

/// Moves this process to a new user namespace, in which its effective user and group have these
/// IDs. No other user or group has an ID there, and the process cannot change its groups. It has
/// all capabilities over the new namespace and none over the old one; an exec keeps them only if
/// `user` is 0. A process with one thread may do this, also if it shares its memory. Makes only
/// system calls. kMachine: the kernel makes no such namespace. kUserMap: it does not take the IDs;
/// then this process has neither the old rights nor a user, and must end.
Outcome MoveToUserNamespace(uid_t user, gid_t group);

}  // namespace caip::host::launcher
