// Chapter: the queue, and the way back into it after the emulator was killed.

#include <cassert>

#include "engine/errors.h"
#include "engine/job_run.h"
#include "ml/trial_texts.h"

namespace caip::engine {
namespace {

// Durations may be as long as a proto allows, which is longer than our clock.
Instant Later(Instant from, Duration by) { return by > kNever - from ? kNever : from + by; }

}  // namespace

using run::JobEvent;
using run::JobState;
namespace texts = ml::texts;

void JobRun::On(const Submitted&) {
  if (IsTrial()) {
    Save();  // nothing of a trial happens before its values are durable
    WaitForTurn(false);
    return;
  }
  LogService(texts::ValidatingJob());
  LogService(texts::JobValidated());
  LogService(texts::JobQueued(job_.job_id));
  LogService(texts::WaitingForProvisioning());
  LogService(texts::Seed(rules_->seed), Severity::kDebug);
  if (study_ && study_->known_before() > 0) {
    LogService(texts::StudyResumed(job_.training_input->hyperparameters->resume_previous_job_id,
                                   static_cast<int64_t>(study_->known_before())));
  }
  WaitForTurn(false);
}

void JobRun::On(const Recovered&) {
  if (note_.ending) {  // the outcome was decided, and what had to be stopped is gone
    phase_ = Phase::kStopping;
    if (study_) ResumeTrials(), StopTrials();
    IfAllStopped();
  } else if (job_.state == JobState::kCancelling) {  // its note was lost
    End(JobEvent::kAllStopped, texts::CancelledByUser());
  } else if (MasterFinished()) {  // the job has succeeded, only nobody said so
    if (job_.state == JobState::kPreparing) BecomeRunning();
    End(JobEvent::kSucceeded, "");
  } else if (job_.state == JobState::kQueued) {
    WaitForTurn(false);
  } else {
    LogService(texts::EmulatorRestarted(), Severity::kWarning);
    WaitForTurn(true);
    LoseAllMachines();
  }
}

// Whatever may have lived has lost its machine: there is one restart path, not two.
void JobRun::LoseAllMachines() {
  for (const auto& [id, replica] : note_.replicas) {
    if (replica.boot == 0 || replica.finished) continue;
    if (Judge(LossOf(id)) != run::Decision::kRestartReplica) return;
  }
}

void JobRun::WaitForTurn(bool resumed) {
  const std::optional<ml::Scheduling>& scheduling = job_.training_input->scheduling;
  Do(Enqueue{scheduling ? scheduling->priority : 0, resumed});
  if (IsTrial()) {
    // Its job's deadlines hold.
  } else if (job_.start_time) {
    StartMaxRunning();
  } else if (scheduling && scheduling->max_wait_time) {
    Start(TimerKind::kMaxWait, Later(*job_.create_time, *scheduling->max_wait_time));
  }
  if (resumed) {
    Do(BecomeReady{});
  } else if (note_.queued_until > now_) {
    Start(TimerKind::kQueueOver, note_.queued_until);
  } else {
    QueueIsOver();
  }
}

// Counted from the first RUNNING: a job that begins anew does not get more time.
void JobRun::StartMaxRunning() {
  const std::optional<ml::Scheduling>& scheduling = job_.training_input->scheduling;
  const Duration limit = scheduling && scheduling->max_running_time ? *scheduling->max_running_time
                                                                    : kMaxRunningDefault;
  Start(TimerKind::kMaxRunning, Later(*job_.start_time, limit));
}

void JobRun::QueueIsOver() {
  LogFailedTries(note_.failed_tries);
  if (note_.out_of_stock) {
    End(JobEvent::kGaveUp, texts::OutOfStock(job_.training_input->region));
  } else {
    Do(BecomeReady{});
  }
}

void JobRun::On(const Granted& granted) {
  assert(phase_ == Phase::kWaiting);
  devices_ = {granted.devices.begin(), granted.devices.end()};
  job_texts_ = MakeJobTexts(key_, *job_.training_input, plan_, note_);
  note_.addresses = granted.addresses;
  for (size_t i = 0; i < plan_.replicas.size(); ++i) {
    plan_.replicas[i].address = granted.addresses.at(i);
  }
  for (const std::string& warning : granted.warnings) LogService(warning, Severity::kWarning);
  if (job_.state == JobState::kQueued) MoveTo(JobEvent::kScheduled);
  BeginAttempt();
}

void JobRun::On(const Refused& refused) {
  if (phase_ == Phase::kWaiting) End(JobEvent::kGaveUp, refused.reason);
}

}  // namespace caip::engine
