#pragma once
// Compares recoveries with each other by the steps at which they resume.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/explorer/baseline.h"
#include "harness/explorer/crash_point.h"
#include "harness/explorer/recovery_comparison.h"

namespace caip::harness {

/// The part of a recovery that is compared with the other recoveries.
struct Resumption {
  CrashPoint point;
  std::optional<int64_t> first_step;  // the first step that the replica reports after its restart
};

/// Restarts that resume earlier than others of the same kind: most restarts after a write of such
/// an object resumed after its step, and these did not.
std::map<size_t, Flaw> FindLostProgress(const Baseline& baseline,
                                        const std::vector<Resumption>& all);

/// Restarts that begin at the very first step, although a restart at an earlier point resumed and
/// one at a later point does. `all` has every point of the run that leads to a recovery.
std::map<size_t, Flaw> FindFallbacks(const Baseline& baseline, const std::vector<Resumption>& all);

}  // namespace caip::harness
