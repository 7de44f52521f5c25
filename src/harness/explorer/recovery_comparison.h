#pragma once
// Compares a recovery with the baseline, without knowing what the trainer is for.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/expectations/expectation.h"
#include "harness/explorer/baseline.h"
#include "harness/explorer/crash_point.h"

namespace caip::harness {

/// One thing that is wrong. Equal causes are one bug, most likely.
struct Flaw {
  enum class Kind { kOther, kMissingSteps, kRewrittenResult, kLostProgress };
  std::string cause;  // without numbers: "objects are left over: job/out/tmp_ckpt_#"
  std::string expected;
  std::string found;
  std::string doubt = {};  // why the flaw may be harmless; "" it is not
  Kind kind = Kind::kOther;
  std::optional<int64_t> resume_step = {};  // kLostProgress: where the restart should have resumed
  std::string object = {};                  // kRewrittenResult
};

/// "missing_steps"; "" for kOther.
std::string_view Name(Flaw::Kind kind);
/// kOther for other words.
Flaw::Kind FlawKindNamed(std::string_view name);

/// `recovery`: the whole run, restart included.
std::vector<Flaw> CompareRecovery(const Baseline& baseline, const CrashPoint& point,
                                  const Evidence& recovery);

/// The part of `bytes` in which it begins to differ from `other`: some sixty characters of a text,
/// or for other bytes the size, the offset and a few bytes in hexadecimal.
std::string ExcerptAtDifference(std::string_view bytes, std::string_view other);

/// The line of a job's errorMessage that names what broke: the exception of a Python traceback,
/// also one whose message goes on over more lines, else the last line that says something.
std::string FindErrorLine(std::string_view error_message);

}  // namespace caip::harness
