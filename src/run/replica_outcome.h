#pragma once
// The second table: what to do when a replica has ended (lead or not x exit class x attempts left),
// from docs/service/replica-environment.md, sections 7 and 8.

#include <array>
#include <cassert>
#include <optional>
#include <string_view>

namespace caip::run {

/// How a replica ended, as far as the service cares.
enum class ExitClass {
  kSuccess,        // 0
  kUserFailure,    // non-zero from the user's code: permanent, the documentation's "common error"
  kTransient,      // SIGABRT, SIGSEGV, or their codes: the whole job is tried again
  kKilled,         // any other signal: not permanent; the VM and its disk live on
  kVmLost,         // the machine is gone: another one, with a new disk
  kOutOfMemory,    // permanent
  kCouldNotStart,  // there is nothing to run: permanent
  kNotPrepared,    // a package could not be fetched or installed: permanent
  kServiceError,   // the service's own fault
};
inline constexpr ExitClass kExitClasses[] = {
    ExitClass::kSuccess,       ExitClass::kUserFailure, ExitClass::kTransient,
    ExitClass::kKilled,        ExitClass::kVmLost,      ExitClass::kOutOfMemory,
    ExitClass::kCouldNotStart, ExitClass::kNotPrepared, ExitClass::kServiceError};

/// "user failure", ...: for messages of ours and for tests.
std::string_view Name(ExitClass how);

/// What the launcher saw of an end.
struct ReplicaEnd {
  int exit_code = 0;  // meaningless when `signal` is set
  int signal = 0;     // the signal that ended it, else 0
  bool out_of_memory = false;
  bool vm_lost = false;          // the emulator took its machine away
  bool could_not_start = false;  // there was no process
};

/// A container's own 128+N counts as signal N, as nobody can tell the two apart there.
ExitClass Classify(const ReplicaEnd& end, bool is_container);

/// The status that errorMessage names: a Python job's launcher exits with the signal's number (9),
/// a container with 128 more (137).
int ReportedExitCode(bool is_container, int exit_code, int signal);

/// "SIGKILL"; "" for a number without a name. Linux's numbers.
std::string_view SignalName(int signal);

enum class Decision {
  kIgnore,          // the job continues without it
  kRestartReplica,  // same name, index and address
  kRetryJob,        // all replicas are stopped and the job starts again
  kFailJob,
  kSucceedJob,
};
std::string_view Name(Decision decision);

inline constexpr int kReplicaRestartsMax = 5;      // of each replica, within one try of the job
inline constexpr int kJobRetriesMax = 3;           // further tries of the job
inline constexpr int kServiceErrorRetriesMax = 2;  // of those, after faults of the service

/// How often replicas and jobs are tried again.
struct RestartPolicy {
  int replica_restarts_max = kReplicaRestartsMax;
  int job_retries_max = kJobRetriesMax;
  int service_error_retries_max = kServiceErrorRetriesMax;
  bool restarts_whole_job = false;  // instead of one replica
  /// Set: the loss of a machine restarts the whole job, at most this often. These restarts do not
  /// count as job retries.
  std::optional<int> job_restarts_after_loss_max = {};
  /// A replica whose program failed starts once more while the job is torn down, if the emulator
  /// gives it the time.
  bool restarts_failing_replica = false;
};

/// What has been used up before this end.
struct Attempts {
  int replica_restarts = 0;  // of this replica within this try of the job
  int job_retries = 0;       // so far
  int loss_restarts = 0;     // of the whole job after lost machines, by job_restarts_after_loss_max
};

/// The replicas to which a row applies.
enum class Who { kLead, kOthers, kAll };

struct OutcomeRow {
  Who who;
  ExitClass how;
  Decision first;   // while the replica may be restarted
  Decision second;  // else, while the job may be tried again
  Decision last;    // else
};

// The lead's success is the job's; nothing waits for the success of another replica. Faults count
// alike for every role: the documentation makes no exception.
inline constexpr std::array kOutcomes = {
    OutcomeRow{Who::kLead, ExitClass::kSuccess,  //
               Decision::kSucceedJob, Decision::kSucceedJob, Decision::kSucceedJob},
    OutcomeRow{Who::kOthers, ExitClass::kSuccess,  //
               Decision::kIgnore, Decision::kIgnore, Decision::kIgnore},
    OutcomeRow{Who::kAll, ExitClass::kUserFailure,  //
               Decision::kFailJob, Decision::kFailJob, Decision::kFailJob},
    OutcomeRow{Who::kAll, ExitClass::kTransient,  //
               Decision::kRetryJob, Decision::kRetryJob, Decision::kFailJob},
    OutcomeRow{Who::kAll, ExitClass::kKilled,  //
               Decision::kRestartReplica, Decision::kRetryJob, Decision::kFailJob},
    OutcomeRow{Who::kAll, ExitClass::kVmLost,  //
               Decision::kRestartReplica, Decision::kRetryJob, Decision::kFailJob},
    OutcomeRow{Who::kAll, ExitClass::kOutOfMemory,  //
               Decision::kFailJob, Decision::kFailJob, Decision::kFailJob},
    OutcomeRow{Who::kAll, ExitClass::kCouldNotStart,  //
               Decision::kFailJob, Decision::kFailJob, Decision::kFailJob},
    OutcomeRow{Who::kAll, ExitClass::kNotPrepared,  //
               Decision::kFailJob, Decision::kFailJob, Decision::kFailJob},
    OutcomeRow{Who::kAll, ExitClass::kServiceError,  //
               Decision::kRetryJob, Decision::kRetryJob, Decision::kFailJob},
};

constexpr bool Covers(const OutcomeRow& row, bool leads, ExitClass how) {
  const bool meant = row.who == Who::kAll || (row.who == Who::kLead) == leads;
  return meant && row.how == how;
}

constexpr bool EveryEndHasExactlyOneRow() {
  for (const bool leads : {true, false}) {
    for (ExitClass how : kExitClasses) {
      int rows = 0;
      for (const OutcomeRow& row : kOutcomes) rows += Covers(row, leads, how);
      if (rows != 1) return false;
    }
  }
  return true;
}

/// No run lasts forever: without retries left the job is not tried again, and without restarts left
/// no replica is restarted.
constexpr bool EveryRowEnds() {
  for (const OutcomeRow& row : kOutcomes) {
    if (row.last == Decision::kRetryJob || row.last == Decision::kRestartReplica) return false;
    if (row.second == Decision::kRestartReplica) return false;
  }
  return true;
}

static_assert(EveryEndHasExactlyOneRow());
static_assert(EveryRowEnds());

/// Whether this end restarts the whole job without a job retry.
constexpr bool RestartsJob(ExitClass how, const RestartPolicy& policy) {
  return how == ExitClass::kVmLost && policy.job_restarts_after_loss_max.has_value();
}

/// What to do now. The caller counts: a restart into replica_restarts, a retry into job_retries,
/// or into loss_restarts if RestartsJob.
constexpr Decision Decide(bool leads, ExitClass how, const Attempts& used,
                          const RestartPolicy& policy = {}) {
  const int retries_max =
      how == ExitClass::kServiceError ? policy.service_error_retries_max : policy.job_retries_max;
  const bool restarts_job = RestartsJob(how, policy);
  const bool may_restart = !policy.restarts_whole_job && !restarts_job &&
                           used.replica_restarts < policy.replica_restarts_max;
  const bool may_retry = restarts_job ? used.loss_restarts < *policy.job_restarts_after_loss_max
                                      : used.job_retries < retries_max;
  for (const OutcomeRow& row : kOutcomes) {
    if (!Covers(row, leads, how)) continue;
    if (row.first == Decision::kRestartReplica && may_restart) return row.first;
    return may_retry ? row.second : row.last;
  }
  assert(false && "no row");
  return Decision::kFailJob;
}

static_assert(Decide(true, ExitClass::kSuccess, {}) == Decision::kSucceedJob);
static_assert(Decide(false, ExitClass::kKilled, {.replica_restarts = 4}) ==
              Decision::kRestartReplica);
static_assert(Decide(false, ExitClass::kKilled, {.replica_restarts = 5}) == Decision::kRetryJob);
static_assert(Decide(false, ExitClass::kKilled, {.replica_restarts = 5, .job_retries = 3}) ==
              Decision::kFailJob);
static_assert(Decide(false, ExitClass::kVmLost, {}, {.restarts_whole_job = true}) ==
              Decision::kRetryJob);
static_assert(Decide(false, ExitClass::kVmLost, {.job_retries = 3, .loss_restarts = 5},
                     {.job_restarts_after_loss_max = 6}) == Decision::kRetryJob);
static_assert(Decide(false, ExitClass::kVmLost, {.loss_restarts = 6},
                     {.job_restarts_after_loss_max = 6}) == Decision::kFailJob);
static_assert(Decide(false, ExitClass::kKilled, {}, {.job_restarts_after_loss_max = 6}) ==
              Decision::kRestartReplica);

}  // namespace caip::run
