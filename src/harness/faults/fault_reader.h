#pragma once
// Reads the `faults` of a scenario. Rejects faults that can never be injected or never end.

#include <string>
#include <vector>

#include "harness/faults/fault.h"
#include "harness/scenario/file_cursor.h"
#include "harness/scenario/scenario.h"

namespace caip::harness {

/// Reports mistakes on the cursors. A fault without a name gets one: "kill 1".
std::vector<Fault> ReadFaults(const Cursor& cursor);

/// The place of `until` or `down_until` in `element`, from which `fault` was read.
Cursor UntilPlace(const Fault& fault, const Cursor& element);

/// The replica that the fault or one of its triggers names and that is not one of `replicas`; "" if
/// there is none.
std::string FindUnknownReplica(const Fault& fault, const std::vector<std::string>& replicas);

/// Reports the faults that can never happen. `scenario.faults` were read from `faults`.
void CheckFaultsOfJob(const Cursor& faults, const Scenario& scenario);

}  // namespace caip::harness
