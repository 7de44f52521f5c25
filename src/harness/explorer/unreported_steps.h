#pragma once
// Steps that were done and never reported: the machine went away between a save and the line.

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "harness/expectations/counts.h"
#include "harness/explorer/baseline.h"
#include "harness/explorer/crash_point.h"
#include "harness/explorer/flaw.h"

namespace caip::harness {

std::set<int64_t> NumbersOf(const StepRecords& records);
/// The numbers of `all` that are not in `some`.
std::set<int64_t> Without(const std::set<int64_t>& all, const std::set<int64_t>& some);

/// Whether the object of the baseline run has these bytes, but for an exact count of starts.
bool IsSameObject(const Baseline& baseline, const std::string& name, const std::string& bytes,
                  size_t restarts);

/// If a trainer saves a step before it reports it, and its machine goes away between the two, the
/// step is never reported. Takes such missing steps out of `flaws` if they were done: a later
/// object that depends on them is the same. Doubts them if nothing shows that. Changes nothing if
/// another flaw is sure. The loss of one machine may end all replicas. `first`: of two restarts,
/// or null.
void DoubtUnreportedSteps(const Baseline& baseline, const CrashPoint* first,
                          const CrashPoint& point, const Evidence& recovery,
                          std::vector<Flaw>& flaws);

}  // namespace caip::harness
