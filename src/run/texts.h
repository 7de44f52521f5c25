#pragma once
// Texts about a run that no API words in its own way. Replicas are given by the name that their API
// shows.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "run/job.h"
#include "run/replica.h"
#include "run/study_step.h"
#include "tuning/space.h"

namespace caip::run {

/// How one replica failed.
struct ReplicaFailure {
  ReplicaId replica = {};
  int status = 0;  // ReportedExitCode
  int signal = 0;  // 0 none
  bool out_of_memory = false;
  bool machine_lost = false;
  std::string traceback = {};  // as printed; "" none
};

/// The task of the log lines that no replica has printed.
inline constexpr std::string_view kServiceTask = "service";

namespace texts {

/// "9(SIGKILL)", "1".
std::string StatusInWords(int status, int signal);
/// " ran out-of-memory and exited with a non-zero status of 9(SIGKILL)".
std::string FailurePredicate(const ReplicaFailure& failure);

/// kInvalidArgument: `text` is not a DelayModel.
Error DelayModelMalformed(std::string_view text);

// Reasons for the end of a job.
/// `reason` is the system's: "No such file or directory".
std::string CouldNotStart(std::string_view replica, std::string_view reason);
std::string CancelledByUser();
std::string OutOfStock(std::string_view region);
std::string WaitedTooLong(Duration max_wait);
std::string RanTooLong(Duration max_running);

// Lines of the log.
/// "The replica worker 0 exited with a non-zero status of 9(SIGKILL). It is restarted (1 of 5)."
std::string RestartingReplica(std::string_view replica, const ReplicaFailure& failure, int restart,
                              int restarts_max);
/// "The machine of worker 0 is lost. The replica is restarted on another machine (1 of 5)."
std::string ReplacingMachine(std::string_view replica, int restart, int restarts_max);
/// "The job is tried again (1 of 3): the replica worker 0 exited with ..."
std::string RetryingJob(std::string_view replica, const ReplicaFailure& failure, int retry,
                        int retries_max);
/// "The replica worker 0 exited with a non-zero status of 1. It starts once more before the job
/// fails."
std::string RestartingFailingReplica(std::string_view replica, const ReplicaFailure& failure);
/// "No machines in region us-central1 (try 1 of 3)."
std::string NoMachines(std::string_view region, int attempt);
// The installation of a run's packages, as its replicas' tasks report it.
std::string NoPackages();
std::string DownloadingPackage(std::string_view uri);
std::string InstallingPackage(std::string_view uri);
/// "Running command: gsutil -q cp gs://b/t.tar.gz t.tar.gz": the launcher quotes its own commands.
std::string RunningCommand(std::string_view command);
std::string EmulatorRestarted();
std::string OutputCutShort();
std::string Seed(uint64_t seed);

// Trials.
/// "Trial 3 begins with learning_rate=0.01, hidden_units=128."; the parameters in their order.
std::string TrialBegins(std::string_view trial, const tuning::Space& space,
                        const tuning::ValueTexts& values);
/// "Trial 3 succeeded: accuracy is 0.91 at step 1000."
std::string TrialEnded(const Trial& trial, std::string_view metric_tag,
                       std::string_view error_message);
/// "Trial 4 is stopped early: ..."
std::string TrialStopped(std::string_view trial, std::string_view why);
/// "There are no further values to try: 6 trials cover the whole grid."
std::string GridExhausted(int64_t trials);
/// "The study of job a continues: 20 earlier trials are known."
std::string StudyResumed(std::string_view job_id, int64_t trials);
/// Why a tuning job fails: too many trials did, and `last` says why the last one failed.
std::string TrialsFailed(const StudyProgress& progress, std::string_view trial,
                         std::string_view last, std::string_view limit_field);
/// The reason of a trial whose job ends without it.
std::string TrialCancelledWithJob();
/// A number as a person wants to read it: "0.91", "1e-05".
std::string ShortNumber(double number);

}  // namespace texts
}  // namespace caip::run
