#pragma once
// Ending everything that descends from this process, which must be a child subreaper: an orphan of
// a killed process becomes our child, so killing children until none is left reaches the whole
// tree, daemons that called setsid included.

#include <sys/resource.h>
#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace caip::host::launcher {

/// Our children, zombies included, by /proc; every process whose parent we are.
std::vector<pid_t> Children();

/// The words of its command, of which a program may have made something else; at most 200 bytes.
std::string CommandOf(pid_t pid);

/// SIGSTOP to everything that descends from us. Once a process has it the kernel lets it make no
/// child, so walking until nothing new is found reaches all. Returns when none runs any more.
void FreezeTree();
/// SIGCONT to everything that descends from us.
void ThawTree();

/// Called with a child that was waited for: its process id, native status and use of resources.
using Reaped = std::function<void(pid_t, int status, const rusage&)>;

/// Kills children for which `spare` is false, and what they leave behind, until none is left.
void KillChildren(const std::function<bool(pid_t)>& spare, const Reaped& reaped);

/// Waits for children that have ended already; does not block.
void ReapEnded(const Reaped& reaped);

}  // namespace caip::host::launcher
