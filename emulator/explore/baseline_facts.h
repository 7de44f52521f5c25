#pragma once
// What an exploration learns about a trainer from its baseline run.

#include <set>
#include <string>
#include <vector>

#include "harness/expectations/expectation.h"
#include "harness/explorer/baseline.h"

namespace caip::explore {

/// The name of the format (harness/events/step_formats.h) in which the replicas' lines report
/// steps. "": the run has steps already, or its lines report none.
std::string RecognizeSteps(const harness::Evidence& run);

/// The replicas that were started: "master-0".
std::set<std::string> ReplicasOf(const harness::Evidence& run);

/// Whether the run has steps, or left new objects or files.
bool HasResults(const harness::Evidence& run);

/// What recoveries are not compared by, because it differs between the baseline runs, for reports.
std::vector<std::string> NotCompared(const harness::Baseline& baseline);

}  // namespace caip::explore
