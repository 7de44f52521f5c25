#pragma once
// What faults of a scenario cannot mean: moments that never come, replicas that its job has not,
// faults that wait for each other, answers that its storage cannot give.

#include <string>
#include <vector>

#include "harness/scenario/file_cursor.h"
#include "harness/scenario/scenario.h"

namespace caip::harness {

/// The replica that a fault or one of its triggers names and that is none of `replicas`; "" none.
std::string StrangeReplica(const Fault& fault, const std::vector<std::string>& replicas);

/// Says at each element of `faults` what can never come. `scenario.faults` were read from it.
void CheckFaultsOfJob(const Cursor& faults, const Scenario& scenario);

}  // namespace caip::harness
