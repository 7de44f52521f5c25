#include "harness/check/check.h"
#include "harness/check/evidence_lines.h"
#include "harness/check/failure_cause.h"

namespace caip::harness {
namespace {

Ruling JudgeSucceeds(const Course& course) {
  const CourseRun& run = course.Of("plain");
  switch (CauseOf(course)) {
    case FailureCause::kNone:
      return Pass("SUCCEEDED");
    case FailureCause::kJobDirFlag:
      return Skip("it does not succeed: arguments/job-dir tells why");
    case FailureCause::kPackage:
      return Skip("it does not succeed: package/installed tells why");
    case FailureCause::kOther:
      break;
  }
  return FailOf(run, "with nothing in its way",
                run.evidence.broke_off.empty()
                    ? "Mend this first: most other checks need a job that succeeds. Data that it "
                      "reads from buckets is given with --bucket NAME=FOLDER."
                    : "Give it less to do behind the --, or more time with --run-timeout.");
}

}  // namespace

CheckKind SucceedsCheck() {
  return {
      "start/succeeds",
      "The job succeeds when nothing is in its way.",
      "docs/service/replica-environment.md, section 7: the master's exit 0 is the job's success",
      {"plain"},
      JudgeSucceeds};
}

}  // namespace caip::harness
