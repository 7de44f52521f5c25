#pragma once
// Compares a recovery with the baseline, without knowing the purpose of the trainer.

#include <string>
#include <string_view>
#include <vector>

#include "harness/expectations/expectation.h"
#include "harness/explorer/baseline.h"
#include "harness/explorer/crash_point.h"
#include "harness/explorer/flaw.h"

namespace caip::harness {

/// `recovery`: the whole run, including the restart. `first`: the first of two restarts; null:
/// there was one.
std::vector<Flaw> CompareRecovery(const Baseline& baseline, const CrashPoint& point,
                                  const Evidence& recovery, const CrashPoint* first = nullptr);

/// An excerpt of `bytes` at the first difference from `other`: about sixty characters of a text.
/// For other bytes, it is the size, the offset and a few bytes in hexadecimal.
std::string ExcerptAtDifference(std::string_view bytes, std::string_view other);

}  // namespace caip::harness
