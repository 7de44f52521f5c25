#pragma once
// What a scenario cannot mean: replicas that its job has not, faults that wait for each other,
// expectations that exclude each other.

#include <vector>

#include "harness/file_cursor.h"
#include "harness/scenario.h"

namespace caip::harness {

/// The replicas of a job that is a trainer or a config, by the names of scenarios; empty where only
/// the client can tell (`submit`).
std::vector<std::string> ReplicasOf(const Scenario& scenario);

/// The replica that a fault or one of its triggers names and that is none of `replicas`; "" none.
std::string StrangeReplica(const Fault& fault, const std::vector<std::string>& replicas);

/// Says at each element of `faults` what can never come. `scenario.faults` were read from it.
void CheckFaultsOfJob(const Cursor& faults, const Scenario& scenario);

/// Says on `expect` what cannot hold together. What `shows_bug` names may fail, and is left out.
void CheckExpectations(const Cursor& expect, const std::vector<std::string>& shows_bug);

}  // namespace caip::harness
