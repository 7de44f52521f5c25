// Chapter: replicas start, end, and start again.

#include <algorithm>
#include <csignal>

#include "engine/errors.h"
#include "engine/job_run.h"

namespace caip::engine {

using run::Decision;
using run::JobEvent;
using run::JobState;
namespace texts = ml::texts;

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
  if (MasterFinished()) End(JobEvent::kSucceeded, "");
}

void JobRun::BecomeRunning() {
  MoveTo(JobEvent::kReplicasUp);
  if (!job_.start_time) {
    job_.start_time = now_;
    Do(StopTimer{TimerKind::kMaxWait, {}});
    if (!IsTrial()) StartMaxRunning();
  }
  LogLife(texts::JobRunning());
  Save();
}

void JobRun::On(const ReplicaExit& exit) {
  if (!IsThisBoot(exit.key)) return;  // the late end of an earlier boot
  LogLastWords(exit);
  Do(StopTimer{TimerKind::kGraceOver, exit.key.replica});
  const Death death = DeathOf(exit);
  replicas_.at(exit.key.replica).life = Life::kOff;
  if (phase_ == Phase::kActive) {
    Judge(death);
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
  // Who ended with 0 was faster than the kill. Under SIGTERM a 0 may just be good manners.
  const bool was_faster = exit.signal == 0 && exit.exit_code == 0 && exit.start_error.empty() &&
                          lost != VmLoss::kMaintenance;
  const run::ReplicaEnd end{
      .exit_code = exit.exit_code,
      .signal = exit.signal,
      .out_of_memory = exit.out_of_memory && !lost,
      .vm_lost = lost && lost != VmLoss::kCrash && !was_faster,
      .could_not_start = !exit.start_error.empty(),
  };
  return {run::Classify(end, plan_.is_container),
          {exit.key.replica, run::ReportedExitCode(plan_.is_container, exit.exit_code, exit.signal),
           exit.signal, exit.out_of_memory, exit.traceback},
          exit.start_error};
}

JobRun::Death JobRun::LossOf(run::ReplicaId id) const {
  return {run::ExitClass::kVmLost,
          {id, run::ReportedExitCode(plan_.is_container, 0, SIGKILL), SIGKILL, false, ""},
          ""};
}

std::string JobRun::Words(const Death& death) const {
  if (death.how == run::ExitClass::kCouldNotStart) {
    return texts::CouldNotStart(death.failure.replica, death.start_error);
  }
  const std::string& number = rules_->project_number;
  return texts::ReplicasFailed({death.failure}, number.empty() ? key_.project : number,
                               job_.job_id);
}

// What the service's launcher says behind a Python program; it dies itself with a lost machine.
void JobRun::LogLastWords(const ReplicaExit& exit) {
  const Replica& replica = replicas_.at(exit.key.replica);
  const run::ReplicaId id = exit.key.replica;
  if (!exit.start_error.empty()) {
    LogReplica(id, texts::CouldNotStart(id, exit.start_error), Severity::kError);
    return;
  }
  if (plan_.is_container || replica.terminated || replica.lost) return;
  LogReplica(id, texts::ModuleCompleted());
  LogReplica(id, texts::CleanedUp());
  if (exit.exit_code == 0 && exit.signal == 0) LogReplica(id, texts::TaskCompleted());
}

// The second table decides; here is only what its words mean.
Decision JobRun::Judge(const Death& death) {
  const run::ReplicaId id = death.failure.replica;
  if (MasterFinished()) {  // the job has succeeded: the rest does not matter
    EndedByItself(id);
    return Decision::kIgnore;
  }
  const auto& scheduling = job_.training_input->scheduling;
  const Decision decision =
      run::Decide(id.role, death.how,
                  {.replica_restarts = note_.replicas.at(id).restarts,
                   .job_retries = note_.attempt - 1,
                   .resilient = scheduling && scheduling->resilient_to_worker_restart});
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
      End(JobEvent::kGaveUp, Words(death));
      break;
  }
  return decision;
}

void JobRun::EndedByItself(run::ReplicaId id) {
  note_.replicas.at(id).finished = true;
  if (id == kMaster && job_.state == JobState::kRunning) {
    End(JobEvent::kSucceeded, "");
  } else {
    Save();
    IfAllUp();
  }
}

void JobRun::Restart(const Death& death) {
  const run::ReplicaId id = death.failure.replica;
  ReplicaNote& note = note_.replicas.at(id);
  ++note.restarts;
  const bool new_machine = death.how == run::ExitClass::kVmLost;
  LogService(new_machine ? texts::ReplacingMachine(id, note.restarts)
                         : texts::RestartingReplica(death.failure, note.restarts),
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

run::Wait JobRun::WaitForReplacement(run::ReplicaId id) const {
  Random random = RandomFor("machine of " + run::TaskName(id) + " behind boot " +
                            std::to_string(note_.replicas.at(id).boot));
  return run::Throw(rules_->vm_restart_delay, random);
}

void JobRun::ReplacementIsThere(run::ReplicaId id) {
  const run::Wait wait = WaitForReplacement(id);
  LogFailedTries(wait.failed_tries);
  if (wait.out_of_stock) {
    End(JobEvent::kGaveUp, texts::OutOfStock(job_.training_input->region));
  } else {
    Relaunch(id, true);
  }
}

void JobRun::Relaunch(run::ReplicaId id, bool fresh_disk) {
  ++note_.replicas.at(id).boot;
  Save();
  LogFirstWords(id);
  Launch(id, fresh_disk);
}

void JobRun::RetryJob(const Death& death) {
  const texts::ReplicaFailure& failure = death.failure;
  LogService(texts::RetryingJob(lines::LostReplica(failure.replica, failure.status, failure.signal),
                                note_.attempt),
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
