#pragma once
// The replicas of a scenario's job.

#include <string>
#include <vector>

#include "harness/scenario/scenario.h"

namespace caip::harness {

/// The replicas of a job that is a trainer or a config, by the names of scenarios. Empty where only
/// the client can tell (`submit`).
std::vector<std::string> FindReplicas(const Scenario& scenario);

/// "the job has no worker-1; it has master-0".
std::string DescribeMissingReplica(const std::string& missing,
                                   const std::vector<std::string>& replicas);

}  // namespace caip::harness
