#pragma once
// Reads the triggers of a scenario: `when:` and `until:`.

#include "harness/faults/trigger.h"
#include "harness/scenario/file_cursor.h"
#include "run/replica_outcome.h"

namespace caip::harness {

/// The service runs a job and boots a replica at most this often.
inline constexpr int64_t kAttemptsMax = 1 + run::kJobRetriesMax;
inline constexpr int64_t kBootsMax = (1 + run::kReplicaRestartsMax) * kAttemptsMax;

/// Reports mistakes on the cursor.
Trigger ReadTrigger(const Cursor& cursor);

/// Returns the full name: "master-0" for "master". Reports words that are not replicas. "any" is
/// valid if `or_any`.
std::string ReadReplica(const Cursor& cursor, bool or_any = false);

/// The same for the peer of a fault of the network, which may also be kStoragePeer.
std::string ReadPeer(const Cursor& cursor);

/// The same for a mapping's key. Mistakes are reported at its value.
std::string ReplicaOfKey(const std::string& name, const Cursor& value);

/// The job's state that a word names: "PREPARING" for JOB_STATE_PENDING, as Vertex AI calls it.
/// Other words are returned unchanged.
std::string StateNamed(const std::string& word);

/// The names of storage operations in triggers and event lists.
const std::vector<std::string>& OperationNames();

}  // namespace caip::harness
