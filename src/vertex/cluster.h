#pragma once
// The replicas of a custom job and their names (docs/service/vertex.md, sections 5 and 6). The
// engine's role of a replica is its pool: "workerpool0".

#include <cstddef>
#include <string>
#include <string_view>

#include "run/replica.h"
#include "run/run_spec.h"
#include "vertex/custom_job.h"

namespace caip::vertex {

/// "workerpool1": the role of the replicas of a pool.
std::string PoolRole(size_t pool);
/// The inverse, for replicas of this API's jobs.
size_t PoolOf(const run::ReplicaId& replica);

/// "workerpool1-0": the replica in logs, errors and webAccessUris.
std::string ReplicaName(const run::ReplicaId& replica);
/// "cmle-training-workerpool1-4c1d6d97d0-0": the host's name, the same after every restart.
/// `host_id` is ten lower-case hexadecimal digits, one for each run.
std::string HostName(const run::ReplicaId& replica, std::string_view host_id);

/// "chief", "worker", "ps" or "evaluator": the pool in TF_CONFIG.
std::string_view TaskType(size_t pool);

}  // namespace caip::vertex
