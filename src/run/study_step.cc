#include "run/study_step.h"

#include <algorithm>

namespace caip::run {
namespace {

bool TooManyFailed(const StudyProgress& progress) {
  if (progress.max_failed > 0) return progress.failed >= progress.max_failed;
  const int64_t first =
      progress.rule.first_failures.value_or(std::max(progress.max_parallel, kFirstFailuresMin));
  if (progress.succeeded == 0 && progress.failed >= first) return true;
  const int64_t ended = progress.succeeded + progress.failed;
  return progress.rule.majority_of && ended >= *progress.rule.majority_of &&
         progress.failed > ended - progress.failed;
}

}  // namespace

StudyStep NextStep(const StudyProgress& progress) {
  if (TooManyFailed(progress)) return StudyStep::kFail;
  if (!progress.exhausted && progress.begun < progress.max_trials) {
    return progress.live < progress.max_parallel ? StudyStep::kBeginTrial : StudyStep::kWait;
  }
  if (progress.live > 0) return StudyStep::kWait;
  // A grid that an earlier job went through already leaves nothing to attempt, and nothing failed.
  return progress.failed > 0 && progress.succeeded == 0 ? StudyStep::kFail : StudyStep::kSucceed;
}

}  // namespace caip::run
