#include "run/study_step.h"

#include <gtest/gtest.h>

namespace caip::run {
namespace {

struct StepCase {
  const char* what;
  StudyProgress progress;
  StudyStep step;
};

StudyProgress Progress(int64_t begun, int64_t live, int64_t succeeded, int64_t failed) {
  return {.max_trials = 10,
          .max_parallel = 2,
          .max_failed = 0,
          .exhausted = false,
          .begun = begun,
          .live = live,
          .succeeded = succeeded,
          .failed = failed};
}

StudyProgress With(StudyProgress progress, int64_t max_failed, bool exhausted = false) {
  progress.max_failed = max_failed;
  progress.exhausted = exhausted;
  return progress;
}

StudyProgress Parallel(StudyProgress progress, int64_t parallel) {
  progress.max_parallel = parallel;
  return progress;
}

StudyProgress Ruled(StudyProgress progress) {
  progress.rule = {.first_failures = 1, .majority_of = 4};
  return progress;
}

TEST(StudyStep, FollowsTheRuleOfTheJob) {
  using enum StudyStep;
  const StepCase cases[] = {
      {"the first one fails", Ruled(Progress(1, 0, 0, 1)), kFail},
      {"one fails after a success", Ruled(Progress(2, 0, 1, 1)), kBeginTrial},
      {"two of three are too few", Ruled(Progress(3, 0, 1, 2)), kBeginTrial},
      {"two of four are half", Ruled(Progress(4, 0, 2, 2)), kBeginTrial},
      {"three of four", Ruled(Progress(4, 0, 1, 3)), kFail},
      {"three of five", Ruled(Progress(6, 1, 2, 3)), kFail},
      {"three of six are half", Ruled(Progress(6, 0, 3, 3)), kBeginTrial},
      {"the job's own number", With(Ruled(Progress(1, 0, 0, 1)), 2), kBeginTrial},
  };
  for (const StepCase& c : cases) EXPECT_EQ(NextStep(c.progress), c.step) << c.what;
}

TEST(StudyStep, FollowsTheTable) {
  using enum StudyStep;
  const StepCase cases[] = {
      {"at the start", Progress(0, 0, 0, 0), kBeginTrial},
      {"one runs", Progress(1, 1, 0, 0), kBeginTrial},
      {"as many run as may", Progress(2, 2, 0, 0), kWait},
      {"one has ended", Progress(2, 1, 1, 0), kBeginTrial},
      {"all were begun", Progress(10, 1, 9, 0), kWait},
      {"all have ended", Progress(10, 0, 10, 0), kSucceed},
      {"one success is enough", Progress(10, 0, 1, 9), kSucceed},
      {"some were cancelled", Progress(10, 0, 4, 0), kSucceed},
      {"all have failed", With(Progress(10, 0, 0, 10), 20), kFail},
      {"two failures are not three", Progress(2, 0, 0, 2), kBeginTrial},
      {"the first three fail", Progress(4, 1, 0, 3), kFail},
      {"three fail after a success", Progress(4, 0, 1, 3), kBeginTrial},
      {"as many as run at a time", Parallel(Progress(5, 1, 0, 4), 5), kBeginTrial},
      {"all that ran at a time", Parallel(Progress(5, 0, 0, 5), 5), kFail},
      {"below maxFailedTrials", With(Progress(4, 0, 0, 4), 5), kBeginTrial},
      {"maxFailedTrials", With(Progress(7, 2, 0, 5), 5), kFail},
      {"maxFailedTrials, with successes", With(Progress(9, 0, 8, 1), 1), kFail},
      {"maxFailedTrials in the last trial", With(Progress(10, 0, 9, 1), 1), kFail},
      {"no values are left", With(Progress(3, 0, 3, 0), 0, true), kSucceed},
      {"no values are left, one runs", With(Progress(3, 1, 2, 0), 0, true), kWait},
      {"no values are left, all failed", With(Progress(2, 0, 0, 2), 0, true), kFail},
      {"there was nothing to try", With(Progress(0, 0, 0, 0), 0, true), kSucceed},
  };
  for (const StepCase& c : cases) EXPECT_EQ(NextStep(c.progress), c.step) << c.what;
}

}  // namespace
}  // namespace caip::run
