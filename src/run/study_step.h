#pragma once
// Decides the next step of a tuning job from the progress of its trials
// (docs/service/hyperparameter-tuning.md, section 7). Pure.

#include <cstdint>
#include <optional>

namespace caip::run {

/// When failed trials fail a job that states no number of them itself.
struct FailureRule {
  /// So many failed trials before the first success; nullopt: as many as run at a time, and
  /// kFirstFailuresMin at least.
  std::optional<int64_t> first_failures = {};
  /// More than half of the ended trials, once so many have ended; nullopt: no share is too large.
  std::optional<int64_t> majority_of = {};
};

/// How far a tuning job is. Trials of an earlier job do not count.
struct StudyProgress {
  int64_t max_trials = 1;
  int64_t max_parallel = 1;
  int64_t max_failed = 0;  // 0: `rule` decides
  FailureRule rule = {};
  bool exhausted = false;  // the algorithm has no further values: the grid is finished
  int64_t begun = 0;
  int64_t live = 0;  // begun and not ended
  int64_t succeeded = 0;
  int64_t failed = 0;
};

enum class StudyStep {
  kBeginTrial,
  kWait,     // for a trial to end
  kSucceed,  // all were attempted, and at least one succeeded
  kFail,
};

/// With the default FailureRule, the job fails after this many failed trials without a success.
/// caip chose the number: nothing is documented (docs/service/hyperparameter-tuning.md, section 7).
inline constexpr int64_t kFirstFailuresMin = 3;

StudyStep NextStep(const StudyProgress& progress);

}  // namespace caip::run
