#pragma once
// The job of a scenario. What cannot be of it: fault_sense.h, expectation_sense.h.

#include <string>
#include <vector>

#include "harness/scenario/scenario.h"

namespace caip::harness {

/// The replicas of a job that is a trainer or a config, by the names of scenarios; empty where only
/// the client can tell (`submit`).
std::vector<std::string> ReplicasOf(const Scenario& scenario);

}  // namespace caip::harness
