#pragma once
// What /proc/PROCESS/status says of another process.

#include <sys/types.h>

#include <vector>

namespace caip::host {

/// The process's ID in its own PID namespace; 0 if the process has ended.
pid_t InnerIdOf(pid_t process);

// As the calling process sees them; 0 or none if the process has ended.
uid_t EffectiveUserOf(pid_t process);
gid_t EffectiveGroupOf(pid_t process);
/// The list of setgroups(2). It need not have the effective group.
std::vector<gid_t> GroupsOf(pid_t process);

}  // namespace caip::host
