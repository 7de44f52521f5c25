#pragma once
// Starts the user's command, which leads a replica's session and main process group.

#include <sys/types.h>

#include <string>
#include <vector>

#include "host/launcher/protocol.h"

namespace caip::host::launcher {

struct LeaderStart {
  pid_t pid = -1;
  Step failed = Step::kNone;  // kNone: the command runs
  int error = 0;
  int user_error = 0;    // why the command is not the user that Machine::maps_user asks for
  bool is_held = false;  // it runs when ReleaseLeader is called
};

/// The watched calls of the new process, and the socket for the seccomp listener.
struct Watching {
  uint32_t watch = 0;  // see protocol.h
  int socket = -1;
  uint64_t replica = 0;
  pid_t init = 0;  // the parent, as caip sees it
};

struct LeaderPlace {
  bool in_machine = false;  // it gets only the capabilities of a container
  int out = -1;
  int err = -1;
};

/// The files that a program may be, in order, by PATH of the environment, which ends with a null
/// pointer (execvp's rules).
std::vector<std::string> ProgramFiles(const std::string& name,
                                      const std::vector<char*>& environment);

/// Starts the recipe's command in a session of its own and in the recipe's directory. The command
/// has exactly the recipe's environment, /dev/null as input, `out` and `err` of its place as
/// output, no other descriptor and no blocked signal. It is killed when this process dies. If the
/// recipe maps its user and the kernel refuses that, the command runs as root of the machine.
/// Returns when the program runs or its start failed.
/// On a machine, the command is held before its first instruction: root of the machine may look at
/// this process and change its memory. Until ReleaseLeader, this process may give up what it holds.
/// Where the host refuses to hold it there (Yama's ptrace_scope 3), it runs at once.
LeaderStart StartLeader(const Recipe& recipe, const LeaderPlace& place, const Watching& watching);
void ReleaseLeader(const LeaderStart& leader);

}  // namespace caip::host::launcher
