#pragma once
// Replicas that outlived the emulator that started them. caip-launcher leaves none; this is for the
// case that it was killed as well, and for the time in which it is still killing replicas.

#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "engine/ports.h"

namespace caip::host {

/// The variable by which a replica's processes are known: <state id>/<project>/<job>/<task>/<boot>.
inline constexpr std::string_view kReplicaVariable = "CAIP_REPLICA";

/// Sixteen hexadecimal digits that stand for a state directory, the same for every spelling of it.
std::string StateId(const Path& state_directory);

/// The variable's value for one boot of a replica.
std::string ReplicaMarker(const std::string& state_id, const engine::ReplicaKey& key);

/// Living processes, other than this one, that carry a marker of the state directory.
std::vector<pid_t> FindReplicas(const std::string& state_id);

/// Kills them, and what they start meanwhile, and waits until they are gone. Returns how many it
/// killed. kDeadlineExceeded names one that would not die (in an uninterruptible sleep).
Result<int> KillReplicas(const std::string& state_id,
                         std::chrono::milliseconds patience = std::chrono::seconds(10));

}  // namespace caip::host
