#pragma once
// The init of one replica: a fork of the launcher that starts the user's command and outlives it
// only until everything the command left behind is dead, too.

#include <sys/types.h>

#include <cstdint>

#include "host/launcher/namespaces.h"

namespace caip::host::launcher {

/// The signal by which the launcher hands a Command to an init. Its value is the signal to send to
/// the main process group, SIGKILL for the whole tree, or one of the orders below.
int CommandSignal();
inline constexpr int kFreezeOrder = -1;
inline constexpr int kThawOrder = -2;

/// What the launcher hands to the init.
struct ReplicaStart {
  uint64_t replica = 0;
  int socket = -1;     // reports go out here; its hang-up means that caip is gone
  int signals = -1;    // signalfd of SIGCHLD, SIGTERM and CommandSignal()
  int recipe = -1;     // a memory file (EncodeRecipe)
  int out = -1;        // the leader's stdout
  int err = -1;        // and stderr
  uint32_t watch = 0;  // protocol.h
  pid_t launcher = 0;  // our parent; its death is ours
  Namespaces home = {};
};

/// The whole life of an init. All signals are blocked and have their default dispositions.
[[noreturn]] void RunReplica(const ReplicaStart& start);

}  // namespace caip::host::launcher
