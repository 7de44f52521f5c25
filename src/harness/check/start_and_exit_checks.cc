// The chapters start, arguments and exit. The exit code is all that the service knows about a
// trainer.

#include "harness/check/check.h"
#include "harness/check/restart_point.h"
#include "harness/check/run_evidence.h"

namespace caip::harness {
namespace {

// The check that reports why the job fails with kPackage.
std::string PackageCheckOf(const CheckSession& session) {
  const bool is_other = MissingModuleOf(session).origin == MissingModule::Origin::kOtherPackage;
  return is_other ? "package/dependencies" : "package/installed";
}

std::string AdviceOfFailure(const CheckSession& session) {
  if (!session.Run("plain").evidence.broke_off.empty()) {
    return "Give the trainer less to do after the --, or more time with --run-timeout.";
  }
  const std::string advice = "Fix this first: most other checks need a job that succeeds.";
  if (session.trainer.is_command) return advice;
  return advice + " Give data that the trainer reads from buckets with --bucket NAME=FOLDER.";
}

CheckResult CheckSuccess(const CheckSession& session) {
  const CheckRun& run = session.Run("plain");
  switch (FindFailureCause(session)) {
    case FailureCause::kNone:
      return Pass("SUCCEEDED");
    case FailureCause::kJobDirFlag:
      return Skip("the job fails: see arguments/job-dir");
    case FailureCause::kPackage:
      return Skip("the job fails: see " + PackageCheckOf(session));
    case FailureCause::kOther:
      break;
  }
  return FailOf(run, "without any fault", AdviceOfFailure(session));
}

CheckResult CheckJobDirFlag(const CheckSession& session) {
  if (!session.trainer.job.kind->AddsJobDir()) {
    return Skip("a custom job gets no flag: AIP_MODEL_DIR and AIP_CHECKPOINT_DIR name its output");
  }
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
       CheckSuccess,
       CheckScope::kAnyTrainer},
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

namespace {

CheckResult CheckFailureExit(const CheckSession& session) {
  constexpr size_t kShown = 5;
  const CheckRun& run = session.Run("refused-writes");
  const std::string master = MasterOf(run);
  CheckResult result{CheckVerdict::kFail, ""};
  size_t refused = 0;
  for (const Event& event : run.evidence.events) {
    const auto* fault = event.As<FaultEvent>();
    if (!fault) continue;
    if (++refused <= kShown) result.evidence.push_back("refused: " + fault->when);
  }
  const std::string what =
      std::to_string(refused) + (refused == 1 ? " write was refused" : " writes were refused");
  if (!run.evidence.broke_off.empty()) {
    result.found = what + ", and the trainer neither succeeds nor fails: " + Outcome(run);
  } else if (run.evidence.state == "SUCCEEDED") {
    result.found = what + ", and the trainer ended with exit code 0";
  } else {
    return Pass(what + ", and the job FAILED");
  }
  for (const std::string& line : LastLines(run, master, 3)) result.evidence.push_back(line);
  result.advice =
      "The service knows only the exit code of a trainer. Let exceptions end the trainer, or exit "
      "with a code other than 0 when a checkpoint or the result could not be written.";
  return result;
}

CheckResult CheckSigtermExit(const CheckSession& session) {
  const CheckRun& run = session.Run("maintenance");
  const std::string replica = RestartedReplicaOf(session);
  const auto end = FirstEnd(run, [&](const Event& event) { return event.replica == replica; });
  if (!end) return Skip("the first boot of " + replica + " did not end");
  const ExitEvent& exit = *end->As<ExitEvent>();
  if (exit.signal != 0 || exit.exit_code != 0) {
    return Pass("SIGTERM ended the trainer " +
                std::string(exit.signal ? "by signal " : "with exit code ") +
                std::to_string(exit.signal ? exit.signal : exit.exit_code));
  }
  const CheckRun& plain = session.Run("plain");
  const size_t all = StepsOf(plain, replica).size() + WritesOf(plain, replica).size();
  const size_t done = StepsOf(run, replica, 1).size() + WritesOf(run, replica, 1).size();
  if (done >= all) return Pass("the trainer finished within the grace period of SIGTERM");
  CheckResult result{CheckVerdict::kFail,
                     "SIGTERM in the middle of the training led to exit code 0"};
  if (const auto last = StepsOf(run, replica, 1); !last.empty()) {
    result.evidence.push_back("the last step of boot 1: " + Shown(*last.back().event));
  }
  result.evidence.push_back(Shown(*end));
  result.advice =
      "Exit code 0 means that the training is done. After a SIGTERM save what can be saved and "
      "exit "
      "with 128+15, or restore the default handler and raise the signal again.";
  return result;
}

}  // namespace

std::vector<CheckKind> ExitChecks() {
  return {
      {"exit/failure",
       "A trainer that cannot write its results does not end with exit code 0.",
       "docs/service/replica-environment.md, section 7: the master's exit 0 is the job's success",
       {"refused-writes"},
       CheckFailureExit,
       CheckScope::kAnyTrainer},
      {"exit/sigterm",
       "A trainer that gets SIGTERM before it is done does not exit with 0.",
       "docs/service/replica-environment.md, sections 7 and 8",
       {"plain", "maintenance"},
       CheckSigtermExit,
       CheckScope::kAnyTrainer},
  };
}

}  // namespace caip::harness
