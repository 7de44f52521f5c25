#pragma once
// Replicas that outlived the emulator that started them. caip-launcher leaves none. They exist if
// the launcher was killed, too, or while it is still killing them.

#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "engine/ports.h"

namespace caip::host {

/// The variable that identifies a replica's processes: <state id>/<project>/<job>/<task>/<boot>.
inline constexpr std::string_view kReplicaVariable = "CAIP_REPLICA";

/// The identity of a state directory: sixteen hexadecimal digits, the same for every spelling of
/// its path.
std::string StateId(const Path& state_directory);

/// The variable's value for one boot of a replica.
std::string ReplicaMarker(const std::string& state_id, const engine::ReplicaKey& key);

/// The living processes, except this one, that have a marker of the state directory.
std::vector<pid_t> FindReplicas(const std::string& state_id);

/// Kills these processes and the processes that they start meanwhile, and waits until all have
/// ended. Returns the number of killed processes. kDeadlineExceeded names a process that does not
/// end (in an uninterruptible sleep).
Result<int> KillReplicas(const std::string& state_id,
                         std::chrono::milliseconds patience = std::chrono::seconds(10));

}  // namespace caip::host
