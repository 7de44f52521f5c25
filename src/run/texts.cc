#include "run/texts.h"

#include <cstdio>
#include <initializer_list>

#include "base/time_text.h"
#include "run/queueing.h"
#include "run/replica_outcome.h"

namespace caip::run::texts {
namespace {

std::string Joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (std::string_view part : parts) text += part;
  return text;
}

std::string OutOf(int count, int limit) {
  return "(" + std::to_string(count) + " of " + std::to_string(limit) + ")";
}

std::string EndInWords(JobState state) {
  switch (state) {
    case JobState::kSucceeded:
      return " succeeded";
    case JobState::kFailed:
      return " failed";
    default:
      return " was cancelled";
  }
}

}  // namespace

std::string StatusInWords(int status, int signal) {
  std::string text = std::to_string(status);
  if (const std::string_view name = SignalName(signal); !name.empty()) {
    text += Joined({"(", name, ")"});
  }
  return text;
}

std::string FailurePredicate(const ReplicaFailure& failure) {
  return Joined({failure.out_of_memory ? " ran out-of-memory and" : "",
                 " exited with a non-zero status of ",
                 StatusInWords(failure.status, failure.signal)});
}

Error DelayModelMalformed(std::string_view text) {
  return {Code::kInvalidArgument,
          Joined({"'", text,
                  "' is not a delay model. Write one of: none, constant:20m, uniform:1m..20m, "
                  "lognormal:median=5m,sigma=0.8, stock-out:tries=3,every=5m (durations up to a "
                  "year, sigma from 0 to 5, tries from 1 to 3)."})};
}

std::string CouldNotStart(std::string_view replica, std::string_view reason) {
  return Joined({"The replica ", replica, " could not be started: ", reason});
}

std::string CancelledByUser() { return "The job was cancelled by the user."; }

std::string OutOfStock(std::string_view region) {
  return Joined({"Region ", region, " has no machines for the job."});
}

std::string WaitedTooLong(Duration max_wait) {
  return Joined({"The job was cancelled because it waited longer than ", ProtoDuration(max_wait),
                 " to run."});
}

std::string RanTooLong(Duration max_running) {
  return Joined(
      {"The job was cancelled because it ran longer than ", ProtoDuration(max_running), "."});
}

std::string RestartingReplica(std::string_view replica, const ReplicaFailure& failure, int restart,
                              int restarts_max) {
  return Joined({"The replica ", replica, FailurePredicate(failure), ". It is restarted ",
                 OutOf(restart, restarts_max), "."});
}

std::string ReplacingMachine(std::string_view replica, int restart, int restarts_max) {
  return Joined({"The machine of ", replica,
                 " is lost. The replica is restarted on another machine ",
                 OutOf(restart, restarts_max), "."});
}

std::string RetryingJob(std::string_view replica, const ReplicaFailure& failure, int retry,
                        int retries_max) {
  return Joined({"The job is tried again ", OutOf(retry, retries_max), ": the replica ", replica,
                 " exited with a non-zero status of ",
                 StatusInWords(failure.status, failure.signal), "."});
}

std::string RestartingFailingReplica(std::string_view replica, const ReplicaFailure& failure) {
  return Joined({"The replica ", replica, FailurePredicate(failure),
                 ". It starts once more before the job fails."});
}

std::string NoMachines(std::string_view region, int attempt) {
  return Joined({"No machines in region ", region, " (try ", std::to_string(attempt), " of ",
                 std::to_string(kStockOutTriesMax), ")."});
}

std::string NoPackages() { return "No packages to install."; }

std::string DownloadingPackage(std::string_view uri) {
  return Joined({"Downloading the package: ", uri});
}

std::string InstallingPackage(std::string_view uri) {
  return Joined({"Installing the package: ", uri});
}

std::string RunningCommand(std::string_view command) {
  return Joined({"Running command: ", command});
}

std::string EmulatorRestarted() {
  return "The emulator was restarted. Running replicas are treated as lost with their machines.";
}

std::string OutputCutShort() {
  return "The emulator was restarted while replicas of this job were ending. The last lines of "
         "their output may be missing from the log.";
}

std::string Seed(uint64_t seed) { return "The seed of this run is " + std::to_string(seed) + "."; }

std::string ShortNumber(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", number);
  return text;
}

std::string TrialBegins(std::string_view trial, const tuning::Space& space,
                        const tuning::ValueTexts& values) {
  std::string text = Joined({"Trial ", trial, " begins with "});
  const char* separator = "";
  for (const tuning::Parameter& parameter : space.parameters()) {
    const auto value = values.find(parameter.name);
    if (value == values.end()) continue;
    text += separator + value->first + "=" + value->second;
    separator = ", ";
  }
  return text + ".";
}

std::string TrialEnded(const Trial& trial, std::string_view metric_tag,
                       std::string_view error_message) {
  std::string text = Joined({"Trial ", trial.id, EndInWords(trial.state)});
  if (trial.final_metric) {
    text += Joined({": ", metric_tag, " is ", ShortNumber(trial.final_metric->second), " at step ",
                    std::to_string(trial.final_metric->first), "."});
  } else if (trial.state == JobState::kSucceeded) {
    text += Joined({". It has reported no value of ", metric_tag, "."});
  } else {
    text += ".";
  }
  if (trial.state == JobState::kFailed) text += Joined({" ", error_message});
  return text;
}

std::string TrialStopped(std::string_view trial, std::string_view why) {
  return Joined({"Trial ", trial, " is stopped early: ", why});
}

std::string GridExhausted(int64_t trials) {
  return Joined({"There are no further values to try: ", std::to_string(trials),
                 trials == 1 ? " trial covers" : " trials cover", " the whole grid."});
}

std::string StudyResumed(std::string_view job_id, int64_t trials) {
  return Joined({"The study of job ", job_id, " is resumed: ", std::to_string(trials),
                 trials == 1 ? " earlier trial is" : " earlier trials are", " known."});
}

std::string TrialCancelledWithJob() { return "The job has ended before the trial did."; }

std::string TrialsFailed(const StudyProgress& progress, std::string_view trial,
                         std::string_view last, std::string_view limit_field) {
  const std::string failed = std::to_string(progress.failed);
  std::string text;
  if (progress.max_failed > 0 && progress.failed >= progress.max_failed) {
    text = Joined({failed, progress.failed == 1 ? " trial has" : " trials have", " failed, and ",
                   limit_field, " is ", std::to_string(progress.max_failed), "."});
  } else if (progress.succeeded > 0) {
    text = Joined({failed, " of the ", std::to_string(progress.failed + progress.succeeded),
                   " trials that have ended have failed, which is more than half."});
  } else {
    text = progress.failed == 1 ? "The only trial that has ended has failed."
                                : Joined({"All ", failed, " trials that have ended have failed."});
  }
  return text + Joined({" Trial ", trial, " was the last: ", last});
}

}  // namespace caip::run::texts
