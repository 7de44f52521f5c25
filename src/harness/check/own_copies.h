#pragma once
// Finds results of a replica that are copies of the master's results under other names.

#include <string>
#include <vector>

#include "harness/check/restart_point.h"

namespace caip::harness {

/// The name without numbers, and without the names and indices of replicas: "job/out/export/#/x"
/// for "job/out/export/17/x" and for "job/out/worker-0/export/17/x".
std::string NameWithoutReplica(const std::string& object);

/// The writes of replicas of the role by which, at the end of the run, there is an object like one
/// that the master wrote, one write for each object. Temporary, deleted and logged files, and parts
/// of divided data do not count.
std::vector<ReplicaWrite> FindOwnCopies(const CheckRun& run, const std::string& role);

}  // namespace caip::harness
