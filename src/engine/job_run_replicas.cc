// Chapter: replicas start, end, and start again.

#include <algorithm>
#include <csignal>

#include "engine/job_run.h"

namespace caip::engine {

using run::Decision;
using run::EndCause;
using run::JobEvent;
using run::JobState;
namespace texts = run::texts;

namespace {

EndCause EndCauseOf(run::ExitClass how) {
  switch (how) {
    case run::ExitClass::kOutOfMemory:
      return EndCause::kOutOfMemory;
    case run::ExitClass::kVmLost:
      return EndCause::kMachineLost;
    case run::ExitClass::kServiceError:
      return EndCause::kServiceError;
    default:
      return EndCause::kReplicaFailed;
  }
}

}  // namespace

void JobRun::On(const ReplicaStarted& started) {
  if (!IsThisBoot(started.key)) return;
  Replica& replica = replicas_.at(started.key.replica);
  replica.life = Life::kUp;
  replica.was_up = true;
  IfAllUp();
}

// "All replicas up": each was seen running in this attempt, or has ended by itself already.
void JobRun::IfAllUp() {
  if (phase_ != Phase::kActive || job_.state != JobState::kPreparing) return;
  const bool all_up = std::all_of(replicas_.begin(), replicas_.end(), [this](const auto& entry) {
    return entry.second.was_up || note_.replicas.at(entry.first).finished;
  });
  if (!all_up) return;
  BecomeRunning();
  if (LeadFinished()) End(JobEvent::kSucceeded, "");
}

void JobRun::BecomeRunning() {
  MoveTo(JobEvent::kReplicasUp);
  if (!job_.start_time) {
    job_.start_time = now_;
    Do(StopTimer{TimerKind::kMaxWait, {}});
    if (!IsTrial()) StartMaxRunning();
  }
  LogJobEvent(run::LoggedJobEvent::kRunning);
  Save();
}

void JobRun::On(const ReplicaExit& exit) {
  if (!IsThisBoot(exit.key)) return;  // the late end of an earlier boot
  const Death death = DeathOf(exit);
  LogEnd(exit, death);
  Do(StopTimer{TimerKind::kGraceOver, exit.key.replica});
  StoreLog();
  replicas_.at(exit.key.replica).life = Life::kOff;
  if (phase_ == Phase::kActive) {
    Decide(CauseOf(death));
  } else {
    IfAllStopped();
  }
}

void JobRun::On(const VmLost& lost) {
  const auto found = replicas_.find(lost.replica);
  if (phase_ != Phase::kActive || found == replicas_.end()) return;
  Replica& replica = found->second;
  if (replica.life == Life::kOff || replica.lost) return;
  replica.lost = lost.kind;
  if (lost.kind == VmLoss::kMaintenance) {
    Terminate(lost.replica);
  } else {
    Do(KillReplica{KeyOf(lost.replica)});
  }
}

JobRun::Death JobRun::DeathOf(const ReplicaExit& exit) const {
  const std::optional<VmLoss>& lost = replicas_.at(exit.key.replica).lost;
  // A replica that ended with 0 was faster than the kill. After SIGTERM a 0 proves nothing.
  const bool was_faster = exit.signal == 0 && exit.exit_code == 0 && exit.start_error.empty() &&
                          lost != VmLoss::kMaintenance;
  const run::ReplicaEnd end{
      .exit_code = exit.exit_code,
      .signal = exit.signal,
      .out_of_memory = exit.out_of_memory && !lost,
      .vm_lost = lost && lost != VmLoss::kCrash && !was_faster,
      .could_not_start = !exit.start_error.empty() && !exit.start_may_pass,
  };
  const bool container = RunsContainer(exit.key.replica);
  return {run::Classify(end, container),
          {exit.key.replica, run::ReportedExitCode(container, exit.exit_code, exit.signal),
           exit.signal, exit.out_of_memory, end.vm_lost, exit.traceback},
          exit.start_error};
}

JobRun::Death JobRun::LossOf(const run::ReplicaId& id) const {
  return {run::ExitClass::kVmLost,
          {id, run::ReportedExitCode(RunsContainer(id), 0, SIGKILL), SIGKILL, false, true, ""},
          ""};
}

// Where the whole job is rescheduled for a lost replica, its peers may notice the loss and fail
// before the end of the lost one is seen. The loss came first.
JobRun::Death JobRun::CauseOf(const Death& death) const {
  const run::RestartPolicy& policy = api_->spec().policy;
  const bool restarts_job = policy.restarts_whole_job || policy.job_restarts_after_loss_max;
  if (death.how != run::ExitClass::kUserFailure || !restarts_job) return death;
  for (const auto& [id, replica] : replicas_) {
    if (!replica.lost || replica.life == Life::kOff) continue;
    Death loss = LossOf(id);
    if (replica.lost == VmLoss::kCrash) {  // its machine stays
      loss.how = run::Classify({.signal = SIGKILL}, RunsContainer(id));
      loss.failure.machine_lost = false;
    }
    return loss;
  }
  return death;
}

std::string JobRun::DescribeDeath(const Death& death) const {
  if (!death.start_error.empty()) {
    return api_->CouldNotStart(death.failure.replica, death.start_error, key());
  }
  return api_->ReplicaFailed(death.failure, key());
}

void JobRun::FailBecauseOf(const Death& death) {
  End(JobEvent::kGaveUp, DescribeDeath(death), EndCauseOf(death.how));
}

bool JobRun::StartsOnceMore(const Death& death) const {
  return death.how == run::ExitClass::kUserFailure && phase_ == Phase::kActive &&
         rules_->failing_restart > Duration(0) && api_->spec().policy.restarts_failing_replica;
}

// On the same machine, with a fresh disk: a container starts again with the files of its image.
void JobRun::StartOnceMore(const Death& death) {
  const run::ReplicaId& id = death.failure.replica;
  note_.failing = FailingEnd{id, DescribeDeath(death), EndCauseOf(death.how)};
  LogService(texts::RestartingFailingReplica(api_->ReplicaName(id), death.failure),
             Severity::kWarning);
  Start(TimerKind::kFailing, now_ + rules_->failing_restart);
  Relaunch(id, true);
}

void JobRun::FailAtLast() {
  Do(StopTimer{TimerKind::kFailing, {}});
  End(JobEvent::kGaveUp, note_.failing->message, note_.failing->cause);
}

// A replica that was terminated or lost its machine has no time for last lines.
void JobRun::LogEnd(const ReplicaExit& exit, const Death& death) {
  const run::ReplicaId& id = exit.key.replica;
  const Replica& replica = replicas_.at(id);
  if (!exit.start_error.empty() && !exit.start_may_pass) {
    LogReplica(id, texts::CouldNotStart(api_->ReplicaName(id), exit.start_error), Severity::kError);
    return;
  }
  if (replica.terminated || replica.lost) return;
  const bool succeeded = exit.exit_code == 0 && exit.signal == 0;
  LogReplicaEvent(death.failure, succeeded ? run::LoggedReplicaEvent::kSucceeded
                                           : run::LoggedReplicaEvent::kFailed);
}

// The second table decides.
Decision JobRun::Decide(const Death& death) {
  const run::ReplicaId& id = death.failure.replica;
  if (note_.failing) {  // the outcome is decided: nothing else starts again
    if (id == note_.failing->replica) FailAtLast();
    return Decision::kIgnore;
  }
  if (LeadFinished()) {  // the job has succeeded: the rest does not matter
    EndedByItself(id);
    return Decision::kIgnore;
  }
  const Decision decision = run::Decide(id == lead_, death.how,
                                        {.replica_restarts = note_.replicas.at(id).restarts,
                                         .job_retries = note_.attempt - 1 - note_.loss_restarts,
                                         .loss_restarts = note_.loss_restarts},
                                        api_->spec().policy);
  switch (decision) {
    case Decision::kIgnore:
    case Decision::kSucceedJob:
      EndedByItself(id);
      break;
    case Decision::kRestartReplica:
      Restart(death);
      break;
    case Decision::kRetryJob:
      RetryJob(death);
      break;
    case Decision::kFailJob:
      StartsOnceMore(death) ? StartOnceMore(death) : FailBecauseOf(death);
      break;
  }
  return decision;
}

void JobRun::EndedByItself(const run::ReplicaId& id) {
  note_.replicas.at(id).finished = true;
  if (id == lead_ && job_.state == JobState::kRunning) {
    End(JobEvent::kSucceeded, "");
  } else {
    Save();
    IfAllUp();
  }
}

void JobRun::Restart(const Death& death) {
  const run::ReplicaId& id = death.failure.replica;
  const int restarts_max = api_->spec().policy.replica_restarts_max;
  ReplicaNote& note = note_.replicas.at(id);
  ++note.restarts;
  const bool new_machine = death.how == run::ExitClass::kVmLost;
  const std::string name = api_->ReplicaName(id);
  LogService(new_machine
                 ? texts::ReplacingMachine(name, note.restarts, restarts_max)
                 : texts::RestartingReplica(name, death.failure, note.restarts, restarts_max),
             Severity::kWarning);
  if (phase_ == Phase::kWaiting) {  // after a recovery: all are launched when its turn comes
    Save();
  } else if (const Duration delay = WaitForReplacement(id).delay;
             new_machine && delay > Duration(0)) {
    Save();
    Start(TimerKind::kReplaced, now_ + delay, id, note.boot);
  } else if (new_machine) {
    ReplacementIsThere(id);
  } else {
    Relaunch(id, false);
  }
}

run::Wait JobRun::WaitForReplacement(const run::ReplicaId& id) const {
  Random random = RandomFor("machine of " + run::Name(id) + " after boot " +
                            std::to_string(note_.replicas.at(id).boot));
  return run::Throw(rules_->vm_restart_delay, random);
}

void JobRun::ReplacementIsThere(const run::ReplicaId& id) {
  const run::Wait wait = WaitForReplacement(id);
  LogFailedTries(wait.failed_tries);
  if (wait.out_of_stock) {
    End(JobEvent::kGaveUp, api_->OutOfStock(), EndCause::kOutOfStock);
  } else {
    Relaunch(id, true);
  }
}

void JobRun::Relaunch(const run::ReplicaId& id, bool fresh_disk) {
  ++note_.replicas.at(id).boot;
  Save();
  LogBeforePackages(id);
  Launch(id, fresh_disk);
}

void JobRun::RetryJob(const Death& death) {
  const run::RestartPolicy& policy = api_->spec().policy;
  const bool restarts = run::RestartsJob(death.how, policy);
  if (restarts) ++note_.loss_restarts;
  const int number = restarts ? note_.loss_restarts : note_.attempt - note_.loss_restarts;
  LogService(
      texts::RetryingJob(api_->ReplicaName(death.failure.replica), death.failure, number,
                         restarts ? *policy.job_restarts_after_loss_max : policy.job_retries_max),
      Severity::kWarning);
  ++note_.attempt;
  for (auto& [id, note] : note_.replicas) {
    note.restarts = 0;
    note.finished = false;
  }
  MoveTo(JobEvent::kRetried);
  Save();
  if (phase_ == Phase::kWaiting) return;  // after a recovery: nothing lives
  phase_ = Phase::kStopping;
  retrying_ = true;
  StopEverything();
  IfAllStopped();
}

}  // namespace caip::engine
