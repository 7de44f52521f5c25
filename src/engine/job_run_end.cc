// Chapter: cancel, deadlines, and the end.

#include <algorithm>
#include <cassert>
#include <csignal>

#include "engine/job_run.h"

namespace caip::engine {

using run::EndCause;
using run::JobEvent;
using run::JobState;

void JobRun::On(const CancelAsked& asked) {
  if (job_.state == JobState::kCancelling) return;
  // Shown while the job stops (docs/service/api.md, section 8). Finish replaces it.
  job_.error_message = asked.reason;
  MoveTo(JobEvent::kCancelAsked);
  if (note_.ending) {  // its outcome was decided before, and stands
    Save();
  } else {
    End(JobEvent::kAllStopped, asked.reason, asked.cause);
  }
}

void JobRun::On(const DocumentReplaced& replaced) {
  job_.document = replaced.document;
  Save();
}

void JobRun::On(const TimerFired& fired) {
  const auto replica = note_.replicas.find(fired.replica);  // a tuning job has none
  const bool this_boot = replica != note_.replicas.end() && fired.stamp == replica->second.boot;
  switch (fired.kind) {
    case TimerKind::kQueueOver:
      if (phase_ == Phase::kWaiting) QueueIsOver();
      break;
    case TimerKind::kMaxWait:
      if (!job_.start_time) WaitedTooLong();
      break;
    case TimerKind::kMaxRunning:
      On(CancelAsked{api_->RanTooLong(), EndCause::kRanTooLong});
      break;
    case TimerKind::kProvisioned:
      if (phase_ == Phase::kPreparing && fired.stamp == note_.attempt) MachinesAreThere();
      break;
    case TimerKind::kGraceOver:
      if (this_boot) Do(KillReplica{KeyOf(fired.replica)});
      break;
    case TimerKind::kReplaced:
      if (phase_ == Phase::kActive && this_boot) ReplacementIsThere(fired.replica);
      break;
    case TimerKind::kFailing:
      if (phase_ == Phase::kActive && note_.failing) FailAtLast();
      break;
    case TimerKind::kSaveAgain:
      break;  // the engine's own
  }
}

void JobRun::WaitedTooLong() {
  if (!api_->spec().limits.fails_after_max_wait) {
    On(CancelAsked{api_->WaitedTooLong(), EndCause::kWaitedTooLong});
  } else if (!note_.ending) {
    End(JobEvent::kGaveUp, api_->WaitedTooLong(), EndCause::kWaitedTooLong);
  }
}

// The outcome is decided; the job reports it once nothing of the job lives.
void JobRun::End(JobEvent as, std::string message, EndCause cause) {
  assert(!note_.ending);
  note_.ending = Ending{as, std::move(message), cause};
  if (phase_ == Phase::kWaiting) Do(LeaveQueue{});
  if (installing_) Do(AbandonPackages{});
  installing_ = false;
  retrying_ = false;
  phase_ = Phase::kStopping;
  if (as == JobEvent::kAllStopped) {
    Save();  // a client that cancels does not wait for the log
  } else if (!AllGone()) {
    StoreLog();
    Save();
  }  // else Finish saves at once
  if (AnyWasLaunched()) LogJobEvent(run::LoggedJobEvent::kTearingDown);
  StopEverything();
  IfAllStopped();
}

void JobRun::StopEverything() {
  Do(StopTimer{TimerKind::kProvisioned, {}});
  if (study_) {
    study_->DropPlans();
    ResumeTrials();  // only a trial that runs again can be cancelled
    StopTrials();
  }
  for (const auto& [id, replica] : replicas_) {
    Do(StopTimer{TimerKind::kReplaced, id});
    if (replica.life == Life::kOff || replica.terminated) continue;
    if (!replica.lost) Terminate(id);
  }
}

void JobRun::Terminate(const run::ReplicaId& id) {
  Replica& replica = replicas_.at(id);
  replica.terminated = true;
  LogReplicaEvent({id}, run::LoggedReplicaEvent::kTerminated, Severity::kError);
  Do(SignalReplica{KeyOf(id), SIGTERM});
  Start(TimerKind::kGraceOver, now_ + rules_->grace, id, KeyOf(id).boot);
}

void JobRun::IfAllStopped() {
  if (phase_ != Phase::kStopping || !AllGone()) return;
  if (retrying_) {
    BeginAttempt();
  } else {
    Finish();
  }
}

void JobRun::Finish() {
  if (AnyWasLaunched()) LogJobEvent(run::LoggedJobEvent::kTornDown);
  MoveTo(note_.ending->as);
  job_.error_message = note_.ending->message;
  job_.end_cause = note_.ending->cause;
  job_.end_time = now_;
  phase_ = Phase::kDone;
  if (!IsTrial()) LogOutcome();
  StoreLog();  // a client that sees the end time stops reading the log
  Save();
  Do(ReturnResources{});
  Do(Forget{});
}

void JobRun::LogOutcome() {
  switch (job_.state) {
    case JobState::kSucceeded:
      LogJobEvent(run::LoggedJobEvent::kSucceeded);
      break;
    case JobState::kFailed:
      for (std::string& line : api_->ErrorLines(job_.error_message)) {
        LogService(std::move(line), Severity::kError);
      }
      LogJobEvent(run::LoggedJobEvent::kFailed, Severity::kError);
      break;
    default:
      LogService(job_.error_message);
      LogJobEvent(run::LoggedJobEvent::kCancelled);
  }
}

bool JobRun::AnyWasLaunched() const {
  if (study_) return study_->progress().begun > 0;
  return std::any_of(note_.replicas.begin(), note_.replicas.end(),
                     [](const auto& entry) { return entry.second.boot > 0; });
}

}  // namespace caip::engine
