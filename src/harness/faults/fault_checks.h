#pragma once
// Rejects faults of a scenario that can never be injected or never end: triggers that cannot
// happen, replicas that the job does not have, faults that wait for each other.

#include <string>
#include <vector>

#include "harness/scenario/file_cursor.h"
#include "harness/scenario/scenario.h"

namespace caip::harness {

/// The replica that the fault or one of its triggers names and that is not one of `replicas`; "" if
/// there is none.
std::string FindUnknownReplica(const Fault& fault, const std::vector<std::string>& replicas);

/// Reports at each element of `faults` what can never happen. `scenario.faults` were read from it.
void CheckFaultsOfJob(const Cursor& faults, const Scenario& scenario);

}  // namespace caip::harness
