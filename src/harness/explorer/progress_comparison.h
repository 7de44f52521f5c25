#pragma once
// What only shows when recoveries are held against each other: how far back they begin.

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
  std::optional<int64_t> first_step;  // that the replica reports behind its restart
};

/// Those that begin again further back than others of the same kind would have: most restarts
/// behind the writing of an object like this went on behind its step, and these did not.
std::map<size_t, Flaw> LostProgress(const Peace& peace, const std::vector<Resumption>& all);

/// Those that begin at the very first step again, where a restart a moment before went on and a
/// later one does. `all` has every moment of the run that leads to a recovery.
std::map<size_t, Flaw> FallenBack(const Peace& peace, const std::vector<Resumption>& all);

/// The step with which the restart should have gone on, where one of these flaws names it.
std::optional<int64_t> WantedStep(const Flaw& flaw);

/// The cause of a flaw that one of these functions told.
bool IsOfProgress(const std::string& cause);

}  // namespace caip::harness
