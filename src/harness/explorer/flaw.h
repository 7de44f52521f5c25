#pragma once
// A wrong difference between a recovery and the baseline.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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
    kSteps,          // unexpected ones, or other values
    kContents,       // of an object
    kDrift,          // of numbers (drift.h)
    kOtherState,     // an artefact of one state beside those of another (other_state.h)
    kSpoiledOutput,  // by a second start after an error (spoiled_output.h)
  };
  std::string cause;  // without numbers: "objects are left over: job/out/tmp_ckpt_#"
  std::string expected;
  std::string found;
  std::string doubt = {};  // why the flaw may be harmless; "": it is not
  Kind kind = Kind::kOther;
  std::optional<int64_t> resume_step = {};  // kLostProgress: where the restart should have resumed
  bool may_resume_later = false;            // at that step or a later one
  std::string object = {};    // kRewrittenResult, kLeftOver, kSpoiledOutput; with `contents`
  std::string contents = {};  // mark of other bytes that may mean the same; "" for other flaws
};

/// How bad flaws of the kind are: 0 is the worst. A job that does not succeed comes first, then
/// lost progress, artefacts of another state, wrong steps, wrong objects, and drift.
int RankOf(Flaw::Kind kind);

/// "missing_steps"; "" for kOther.
std::string_view Name(Flaw::Kind kind);
/// kOther for other words.
Flaw::Kind FlawKindNamed(std::string_view name);

}  // namespace caip::harness
