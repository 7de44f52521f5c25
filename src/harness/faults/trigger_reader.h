#pragma once
// `when:` and `until:` of a scenario -> Trigger.

#include "harness/faults/trigger.h"
#include "harness/scenario/file_cursor.h"
#include "run/replica_outcome.h"

namespace caip::harness {

/// How often the service runs a job, and how often it boots a replica, at most.
inline constexpr int64_t kAttemptsMax = 1 + run::kJobRetriesMax;
inline constexpr int64_t kBootsMax = (1 + run::kReplicaRestartsMax) * kAttemptsMax;

/// Reports mistakes on the cursor.
Trigger ReadTrigger(const Cursor& cursor);

/// "master", "master-0", "worker-1" -> "master-0", ...; reports other words. "any" if `or_any`.
std::string ReadReplica(const Cursor& cursor, bool or_any = false);

/// The same for a mapping's key; mistakes are reported at its value.
std::string ReplicaOfKey(const std::string& name, const Cursor& value);

/// The names of storage operations in triggers and event lists.
const std::vector<std::string>& OperationNames();

}  // namespace caip::harness
