#pragma once
// Compares a recovery with the baseline, without knowing the purpose of the trainer.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/expectations/expectation.h"
#include "harness/explorer/baseline.h"
#include "harness/explorer/crash_point.h"

namespace caip::harness {

/// A wrong difference from the baseline. Flaws with the same cause are most likely one bug.
struct Flaw {
  enum class Kind {
    kOther,
    kMissingSteps,
    kRewrittenResult,
    kLostProgress,
    kLeftOver,
    kJobFails,
    kNoEnd,
    kSteps,     // unexpected ones, or other values
    kContents,  // of an object
    kDrift,     // of numbers (drift.h)
  };
  std::string cause;  // without numbers: "objects are left over: job/out/tmp_ckpt_#"
  std::string expected;
  std::string found;
  std::string doubt = {};  // why the flaw may be harmless; "": it is not
  Kind kind = Kind::kOther;
  std::optional<int64_t> resume_step = {};  // kLostProgress: where the restart should have resumed
  std::string object = {};                  // kRewrittenResult, kLeftOver, with `contents`
  std::string contents = {};  // identifies other bytes that may mean the same; "" for other flaws
};

/// How bad flaws of the kind are: 0 is the worst. A job that does not succeed comes first, then
/// lost progress, wrong steps, wrong objects, and drift.
int RankOf(Flaw::Kind kind);

/// "missing_steps"; "" for kOther.
std::string_view Name(Flaw::Kind kind);
/// kOther for other words.
Flaw::Kind FlawKindNamed(std::string_view name);

/// `recovery`: the whole run, including the restart. `first`: the first of two restarts; null:
/// there was one.
std::vector<Flaw> CompareRecovery(const Baseline& baseline, const CrashPoint& point,
                                  const Evidence& recovery, const CrashPoint* first = nullptr);

/// An excerpt of `bytes` at the first difference from `other`: about sixty characters of a text.
/// For other bytes, it is the size, the offset and a few bytes in hexadecimal.
std::string ExcerptAtDifference(std::string_view bytes, std::string_view other);

/// The line of a job's errorMessage that names the failure: the exception of a Python traceback,
/// even if its message has several lines, else the last line with a letter or digit.
std::string FindErrorLine(std::string_view error_message);

}  // namespace caip::harness
