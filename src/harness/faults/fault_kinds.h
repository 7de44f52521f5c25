#pragma once
// The rows of the table of fault kinds, by family.

#include <string>
#include <vector>

#include "harness/faults/fault.h"

namespace caip::harness {

std::vector<FaultKind> MachineFaultKinds();
std::vector<FaultKind> ServiceFaultKinds();
std::vector<FaultKind> LogAndClockFaultKinds();

/// A fault of that kind, which must exist.
Fault MakeFault(const char* kind, std::string name, std::string replica, Trigger when,
                FaultActionPtr action);

}  // namespace caip::harness
