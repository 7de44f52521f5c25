#pragma once
// The replicas of a scenario's job.

#include <string>
#include <vector>

#include "harness/scenario/scenario.h"

namespace caip::harness {

/// The replicas of a job that is a trainer or a config, by their names in scenarios. Empty for
/// `submit`, because only the client knows those replicas.
std::vector<std::string> FindReplicas(const Scenario& scenario);

/// "the job has no worker-1; it has master-0".
std::string DescribeMissingReplica(const std::string& missing,
                                   const std::vector<std::string>& replicas);

}  // namespace caip::harness
