// The chapters start and arguments.

#include "harness/check/check.h"
#include "harness/check/evidence_lines.h"
#include "harness/check/failure_cause.h"

namespace caip::harness {
namespace {

CheckResult CheckSuccess(const CheckSession& session) {
  const CheckRun& run = session.Run("plain");
  switch (FindFailureCause(session)) {
    case FailureCause::kNone:
      return Pass("SUCCEEDED");
    case FailureCause::kJobDirFlag:
      return Skip("the job fails: see arguments/job-dir");
    case FailureCause::kPackage:
      return Skip("the job fails: see package/installed");
    case FailureCause::kOther:
      break;
  }
  return FailOf(run, "without any fault",
                run.evidence.broke_off.empty()
                    ? "Fix this first: most other checks need a job that succeeds. Give data that "
                      "the trainer reads from buckets with --bucket NAME=FOLDER."
                    : "Give the trainer less to do after the --, or more time with --run-timeout.");
}

CheckResult CheckJobDirFlag(const CheckSession& session) {
  const CheckRun& run = session.Run("plain");
  const FailureCause cause = FindFailureCause(session);
  if (cause == FailureCause::kNone) {
    return Pass("the trainer was started with --job-dir and succeeded");
  }
  if (cause != FailureCause::kJobDirFlag) {
    return Skip("the job fails for another reason than its flags");
  }
  CheckResult result{CheckVerdict::kFail, "the trainer refuses the flag"};
  result.evidence.push_back(FindFailureLine(session));
  if (const auto failure = FirstFailure(run)) result.evidence.push_back(Shown(*failure));
  result.advice =
      "The service adds `--job-dir URI` after your own arguments. Use "
      "parser.add_argument('--job-dir') or parse_known_args().";
  return result;
}

// Only a warning: a trainer that defines all its hyperparameters may be strict.
CheckResult CheckUnknownFlag(const CheckSession& session) {
  const CheckRun& run = session.Run("unknown-flag");
  if (run.succeeded()) return Pass("the trainer accepted an unknown flag");
  CheckResult result = FailOf(run, "with --caip_check_hyperparameter 0.5",
                              "In a tuning job each hyperparameter arrives as a flag of its name. "
                              "Define all of them, or use parse_known_args().");
  result.verdict = CheckVerdict::kWarn;
  return result;
}

}  // namespace

std::vector<CheckKind> StartChecks() {
  return {
      {"start/succeeds",
       "The job succeeds without any fault.",
       "docs/service/replica-environment.md, section 7: the master's exit 0 is the job's success",
       {"plain"},
       CheckSuccess},
      {"arguments/job-dir",
       "The trainer accepts --job-dir, which the service adds.",
       "docs/service/replica-environment.md, section 5: argument order",
       {"plain"},
       CheckJobDirFlag},
      {"arguments/unknown",
       "The trainer accepts flags that it does not know.",
       "docs/service/replica-environment.md, section 5: a flag for each hyperparameter",
       {"unknown-flag"},
       CheckUnknownFlag},
  };
}

}  // namespace caip::harness
