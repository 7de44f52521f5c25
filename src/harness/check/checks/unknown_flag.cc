#include "harness/check/check.h"
#include "harness/check/evidence_lines.h"

namespace caip::harness {
namespace {

Ruling JudgeUnknownFlag(const Course& course) {
  const CourseRun& run = course.Of("unknown-flag");
  if (run.succeeded()) return Pass("a flag that it does not know was no matter");
  Ruling ruling = FailOf(run, "with --caip_check_hyperparameter 0.5",
                         "In a tuning job each hyperparameter arrives as a flag of its name: know "
                         "them all, or use parse_known_args().");
  ruling.verdict = CheckVerdict::kWarn;  // who defines all its hyperparameters may be strict
  return ruling;
}

}  // namespace

CheckKind UnknownFlagCheck() {
  return {"arguments/unknown",
          "The trainer takes flags that it does not know.",
          "docs/service/replica-environment.md, section 5: a flag for each hyperparameter",
          {"unknown-flag"},
          JudgeUnknownFlag};
}

}  // namespace caip::harness
