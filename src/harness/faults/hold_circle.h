#pragma once
// Holds that wait for each other's replicas, so that the `until` of none of them comes.

#include <string>
#include <vector>

#include "harness/faults/fault.h"

namespace caip::harness {

/// The names of holds that wait for each other's replicas, from `faults[from]` on; empty if it is
/// in no such circle. `lasting` are the indexes of the faults whose `until` has not come yet.
/// Counts only what the faults themselves name: an `until` that several replicas can cause is in no
/// circle.
std::vector<std::string> FindHoldCircle(const std::vector<Fault>& faults,
                                        const std::vector<size_t>& lasting, size_t from);

}  // namespace caip::harness
