#pragma once
// Objects that a trainer deletes to keep the last few, and that a restart leaves.

#include <string>
#include <vector>

#include "harness/explorer/baseline.h"
#include "harness/explorer/crash_point.h"

namespace caip::harness {

/// Whether a restart came between a save and the deletion of this older object that follows it in
/// the baseline. A trainer that deletes right after it saves leaves one object more then, and a
/// correct one may never delete it. `restarts`: their places in the recovery.
///
/// False for an object that is not like one that the baseline keeps: a temporary file, a lock. Also
/// false for one that was copied or moved before its deletion, that the recovery wrote after
/// another step, or whose deletion is due only after a later save or step: the trainer has
/// forgotten it.
bool IsLeftByRotation(const Baseline& baseline, const std::string& object, const Evidence& recovery,
                      const std::vector<CrashPoint>& restarts);

}  // namespace caip::harness
