// Chapter: the queue, and the way back into it after the emulator was killed.

#include <algorithm>
#include <cassert>

#include "engine/job_run.h"

namespace caip::engine {
namespace {

// A limit may exceed the range of the clock.
Instant Later(Instant from, Duration by) { return by > kNever - from ? kNever : from + by; }

}  // namespace

using run::EndCause;
using run::JobEvent;
using run::JobState;

void JobRun::On(const Submitted&) {
  if (IsTrial()) {
    Save();  // nothing of a trial happens before its values are durable
    WaitForTurn(false);
    return;
  }
  LogJobEvent(run::LoggedJobEvent::kAccepted);
  LogService(run::texts::Seed(rules_->seed), Severity::kDebug);
  if (study_ && study_->known_before() > 0) {
    LogService(run::texts::StudyResumed(api_->spec().tuning->resumed_job,
                                        static_cast<int64_t>(study_->known_before())));
  }
  WaitForTurn(false);
}

void JobRun::On(const Recovered&) {
  if (note_.ending) {  // the outcome was decided, and what had to be stopped is gone
    phase_ = Phase::kStopping;
    if (AnyWasCutShort()) LogService(run::texts::OutputCutShort(), Severity::kWarning);
    if (study_) ResumeTrials(), StopTrials();
    IfAllStopped();
  } else if (job_.state == JobState::kCancelling) {  // its note was lost
    End(JobEvent::kAllStopped, run::texts::CancelledByUser(), EndCause::kCancelled);
  } else if (note_.failing) {
    FailAtLast();
  } else if (LeadFinished()) {  // the job has succeeded, and that was not saved
    if (job_.state == JobState::kPreparing) BecomeRunning();
    End(JobEvent::kSucceeded, "");
  } else if (job_.state == JobState::kQueued) {
    WaitForTurn(false);
  } else {
    LogService(run::texts::EmulatorRestarted(), Severity::kWarning);
    WaitForTurn(true);
    LoseAllMachines();
  }
}

// A replica that was still running, or ending, when the emulator was killed.
bool JobRun::AnyWasCutShort() const {
  return std::any_of(note_.replicas.begin(), note_.replicas.end(), [](const auto& entry) {
    return entry.second.boot > 0 && !entry.second.finished;
  });
}

// Whatever may have lived has lost its machine: there is one restart path, not two.
void JobRun::LoseAllMachines() {
  for (const auto& [id, replica] : note_.replicas) {
    if (replica.boot == 0 || replica.finished) continue;
    if (Decide(LossOf(id)) != run::Decision::kRestartReplica) return;
  }
}

void JobRun::WaitForTurn(bool resumed) {
  const run::RunSpec& spec = api_->spec();
  Do(Enqueue{spec.priority, resumed});
  if (IsTrial()) {
    // The deadlines of its job hold.
  } else if (job_.start_time) {
    StartMaxRunning();
  } else if (spec.limits.max_wait) {
    Start(TimerKind::kMaxWait, Later(*job_.create_time, *spec.limits.max_wait));
  }
  if (resumed) {
    Do(BecomeReady{});
  } else if (note_.queued_until > now_) {
    Start(TimerKind::kQueueOver, note_.queued_until);
  } else {
    QueueIsOver();
  }
}

// Counted from the first RUNNING: a job that is tried again does not get more time.
void JobRun::StartMaxRunning() {
  Start(TimerKind::kMaxRunning, Later(*job_.start_time, api_->spec().limits.max_running));
}

void JobRun::QueueIsOver() {
  LogFailedTries(note_.failed_tries);
  if (note_.out_of_stock) {
    End(JobEvent::kGaveUp, api_->OutOfStock(), EndCause::kOutOfStock);
  } else {
    Do(BecomeReady{});
  }
}

// On the service, the names of machines resolve on all machines of the job.
std::vector<run::PlannedReplica> JobRun::PlanForReplicas() const {
  std::vector<run::PlannedReplica> plan = plan_;
  if (!rules_->launch.names_resolve) return plan;
  for (run::PlannedReplica& replica : plan) {
    replica.address.replace(0, replica.address.rfind(':'), api_->HostName(replica.id, note_.names));
  }
  return plan;
}

void JobRun::On(const Granted& granted) {
  assert(phase_ == Phase::kWaiting);
  devices_ = {granted.devices.begin(), granted.devices.end()};
  note_.addresses = granted.addresses;
  for (size_t i = 0; i < plan_.size(); ++i) plan_[i].address = granted.addresses.at(i);
  api_run_ = api_->Begin({.key = key(),
                          .names = note_.names,
                          .plan = PlanForReplicas(),
                          .values = note_.values,
                          .output_directory = note_.output_directory,
                          .host = rules_->launch.host});
  for (const std::string& warning : granted.warnings) LogService(warning, Severity::kWarning);
  if (job_.state == JobState::kQueued) MoveTo(JobEvent::kScheduled);
  BeginAttempt();
}

void JobRun::On(const Refused& refused) {
  if (phase_ != Phase::kWaiting) return;
  End(JobEvent::kGaveUp, refused.reason, EndCause::kRefused);
}

}  // namespace caip::engine
