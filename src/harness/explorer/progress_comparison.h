#pragma once
// Compares recoveries with each other: where each one resumes.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/explorer/baseline.h"
#include "harness/explorer/crash_point.h"
#include "harness/explorer/recovery_comparison.h"

namespace caip::harness {

/// A recovery as the comparison among all of them sees it.
struct Resumption {
  CrashPoint point;
  std::optional<int64_t> first_step;  // that the replica reports after its restart
};

/// Resumptions that begin further back than others of the same kind: most restarts after the write
/// of an object like this one resumed after its step, and these did not.
std::map<size_t, Flaw> FindLostProgress(const Baseline& baseline,
                                        const std::vector<Resumption>& all);

/// Resumptions that begin at the very first step, where the restart at the point before resumed and
/// a later one does. `all` has every point of the run that leads to a recovery.
std::map<size_t, Flaw> FindFallbacks(const Baseline& baseline, const std::vector<Resumption>& all);

}  // namespace caip::harness
