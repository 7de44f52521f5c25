#pragma once
// The init of one replica: a fork of the launcher that starts the user's command, and ends when the
// command and all its descendants are dead. The init of a machine is process 1 of the machine's PID
// namespace: when it ends, however it ends, the kernel ends all other processes of the machine.

#include <sys/types.h>

#include <cstdint>

#include "host/launcher/networks.h"

namespace caip::host::launcher {

/// The signal by which the launcher passes a Command to an init. Its value is the signal to send to
/// the main process group, SIGKILL for the whole tree, or one of the orders below.
int CommandSignal();
inline constexpr int kFreezeOrder = -1;
inline constexpr int kThawOrder = -2;

/// A new non-blocking signalfd of SIGCHLD, SIGTERM and CommandSignal(); -1 with errno.
int OpenSignals();

/// The launcher's arguments for an init.
struct ReplicaStart {
  uint64_t replica = 0;
  int socket = -1;     // for reports; its hang-up means that caip has ended
  int signals = -1;    // OpenSignals()
  int recipe = -1;     // a memory file (EncodeRecipe)
  int out = -1;        // the leader's stdout
  int err = -1;        // the leader's stderr
  uint32_t watch = 0;  // see protocol.h
  pid_t launcher = 0;  // the parent as the init sees it: 0 in a machine's PID namespace
  int lives = -1;      // a pipe; its hang-up means that the launcher has ended
  /// The process ID of the init outside of its PID namespace.
  pid_t own_id = 0;
  int network = -1;  // of the machine that the init is to make: its network namespace; -1: none
  /// Of a machine: a socket to the launcher. Once the command runs, the init holds nothing else but
  /// signals of its own. The launcher passes reports on, and hangs up when caip has ended.
  int reports = -1;
  int lock_keeper = -1;  // of a machine (lock_keeper.h)
};

/// Runs an init to its end. All signals must be blocked and have their default dispositions. With a
/// network, the process must have new mount, UTS, IPC and PID namespaces.
[[noreturn]] void RunReplica(const ReplicaStart& start);

/// Runs an init instead of one that was killed, when all processes of its replica have ended. It
/// only runs the removal of the recipe and reports the replica's end.
[[noreturn]] void RunRemovalOf(const ReplicaStart& start);

}  // namespace caip::host::launcher
