#include "harness/check/check.h"
#include "harness/check/evidence_lines.h"
#include "harness/check/failure_cause.h"

namespace caip::harness {
namespace {

Ruling JudgeJobDirFlag(const Course& course) {
  const CourseRun& run = course.Of("plain");
  const FailureCause cause = CauseOf(course);
  if (cause == FailureCause::kNone) return Pass("it was started with --job-dir, and succeeded");
  if (cause != FailureCause::kJobDirFlag) {
    return Skip("the job fails for another reason, before or behind its flags");
  }
  Ruling ruling{CheckVerdict::kFail, "the trainer refuses the flag"};
  ruling.evidence.push_back(TellingLine(course));
  if (const auto failure = FirstFailure(run)) ruling.evidence.push_back(Shown(*failure));
  ruling.advice =
      "The service adds `--job-dir URI` behind your own arguments: "
      "parser.add_argument('--job-dir'), or parse_known_args().";
  return ruling;
}

}  // namespace

CheckKind JobDirFlagCheck() {
  return {"arguments/job-dir",
          "The trainer takes --job-dir, which the service adds.",
          "docs/service/replica-environment.md, section 5: argument order",
          {"plain"},
          JudgeJobDirFlag};
}

}  // namespace caip::harness
