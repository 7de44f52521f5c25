#pragma once
// Ends everything that descends from this process, which must be a child subreaper. The orphans of
// a killed process become its children, so killing children until none is left reaches the whole
// tree, including daemons that called setsid.

#include <sys/resource.h>
#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace caip::host::launcher {

/// The children of this process, including zombies, from /proc.
std::vector<pid_t> Children();

/// The command line of a process, which the program may have changed; at most 200 bytes.
std::string CommandOf(pid_t pid);

/// The processes that FreezeTree has stopped, and how many stop signals each of them got for that.
using StoppedProcesses = std::map<pid_t, int>;

/// Sends SIGSTOP to all descendants that have not stopped, and adds them to `stopped`. A stopped
/// process cannot create a child, so repeated walks reach all of them. Returns when none runs, or
/// after about a second. Called again before ThawTree, it adds only what runs since.
void FreezeTree(StoppedProcesses& stopped);
/// Sends SIGCONT to the descendants in `stopped`, and empties it. Processes that had stopped
/// themselves stay stopped, and so do those that another process has stopped meanwhile.
void ThawTree(StoppedProcesses& stopped);

/// Gets the process ID, native status and resource usage of a child that has ended.
using Reaped = std::function<void(pid_t, int status, const rusage&)>;

/// Kills the children for which `spare` is false, and their orphans, until none is left.
void KillChildren(const std::function<bool(pid_t)>& spare, const Reaped& reaped);

/// Reaps children that have ended. Does not block.
void ReapEnded(const Reaped& reaped);

}  // namespace caip::host::launcher
