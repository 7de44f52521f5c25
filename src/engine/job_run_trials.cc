// Chapter: a tuning job's trials. Each is a run of its own with its own cluster; the job's run has
// no replicas, and drives them.

#include "engine/job_run.h"
#include "ml/trial_texts.h"

namespace caip::engine {

using run::JobEvent;
using run::JobState;
using run::StudyStep;
namespace texts = ml::texts;

namespace {

// Not the trial's input: that is its job's.
ml::Job TrialJob(std::string id, Instant now) {
  ml::Job job;
  job.job_id = std::move(id);
  job.state = JobState::kQueued;
  job.create_time = now;
  return job;
}

}  // namespace

// In the place of launching replicas: everything is prepared.
void JobRun::ActivateStudy() {
  phase_ = Phase::kActive;
  Save();
  if (study_->AnyRan() && job_.state == JobState::kPreparing) BecomeRunning();
  ResumeTrials();
  NextTrials();
}

// Those that the emulator was killed under; their replicas have lost their machines.
void JobRun::ResumeTrials() {
  for (TrialRecord& record : study_->TakeInterrupted()) {
    Do(BeginTrial{std::move(record), prepared_, false});
  }
}

void JobRun::NextTrials() {
  while (phase_ == Phase::kActive) {
    switch (study_->Next()) {
      case StudyStep::kBeginTrial:
        study_->Plan();
        break;
      case StudyStep::kWait:
        if (auto choice = study_->NextChoice()) Do(*std::move(choice));
        return;
      case StudyStep::kSucceed:
        if (job_.state == JobState::kPreparing) BecomeRunning();
        End(JobEvent::kSucceeded, "");
        return;
      case StudyStep::kFail:
        End(JobEvent::kGaveUp, TrialsFailedText());
        return;
    }
  }
}

void JobRun::On(const ValuesChosen& chosen) {
  if (!study_ || phase_ != Phase::kActive) return;  // the job has ended while they were chosen
  if (study_->Begin(chosen)) {
    BeginNewTrial(chosen.trial);
  } else {
    LogService(texts::GridExhausted(static_cast<int64_t>(study_->known())));
  }
  NextTrials();
}

void JobRun::BeginNewTrial(const std::string& trial) {
  const RunKey key{key_.project, key_.job_id, trial};
  RunNote note = NewNote(key, *job_.training_input, *rules_);
  note.images = note_.images;
  note.seen_job_dir = note_.seen_job_dir;
  note.queued_until = now_;
  note.hyperparameters = study_->Of(trial).shown.hyperparameters;
  LogTrial(trial,
           texts::TrialBegins(trial, *job_.training_input->hyperparameters, note.hyperparameters));
  Do(BeginTrial{{key, TrialJob(key_.job_id, now_), ToJson(note)}, prepared_, true});
}

void JobRun::On(const Reported& reported) {
  if (!study_) return;
  std::vector<Report> fresh = study_->TakeIn(reported.trial, reported.reports);
  if (fresh.empty()) return;
  Do(SaveReports{{key_.project, key_.job_id, reported.trial}, std::move(fresh)});
  if (phase_ != Phase::kActive) return;
  if (const auto why = study_->WhyStop(reported.trial)) {
    study_->Stopped(reported.trial);
    LogTrial(reported.trial, texts::TrialStopped(reported.trial, *why));
    Do(TellTrial{reported.trial, StopAsked{}});
  }
}

void JobRun::On(const TrialMoved& moved) {
  if (!study_ || !study_->Move(moved.trial, moved.job, moved.stopped_early)) return;
  const Study::Trial& trial = study_->Of(moved.trial);
  if (trial.shown.state == JobState::kRunning && job_.state == JobState::kPreparing) {
    BecomeRunning();
    return;
  }
  if (trial.is_live()) return Save();
  TrialEnded(moved);
}

void JobRun::TrialEnded(const TrialMoved& moved) {
  const ml::TrainingOutput output = study_->Output();
  for (const ml::HyperparameterOutput& shown : output.trials) {
    if (shown.trial_id != moved.trial) continue;
    LogTrial(moved.trial, texts::TrialEnded(shown, study_->metric_tag(), moved.job.error_message),
             moved.job.state == JobState::kFailed ? Severity::kError : Severity::kInfo);
  }
  Save();
  if (phase_ != Phase::kActive) return IfAllStopped();
  if (moved.job.state == JobState::kFailed && !moved.launched) {
    End(JobEvent::kGaveUp, moved.job.error_message);  // no machine: so it is for all that follow
  } else {
    NextTrials();
  }
}

std::string JobRun::TrialsFailedText() const {
  const Study::Trial& last = *study_->LastFailed();
  return texts::TrialsFailed(study_->progress(), last.shown.trial_id, last.error_message);
}

// A trial is told; what it is told in is the reason of its job.
void JobRun::StopTrials() {
  const std::string reason =
      job_.state == JobState::kCancelling ? note_.ending->message : texts::TrialCancelledWithJob();
  for (const std::string& trial : study_->Live()) Do(TellTrial{trial, CancelAsked{reason}});
}

// To a trial: what it has reported counts as its result.
void JobRun::On(const StopAsked&) {
  if (!IsTrial() || job_.state != JobState::kRunning || note_.ending) return;
  note_.stopped_early = true;
  End(JobEvent::kSucceeded, "");
}

void JobRun::LogTrial(const std::string& trial, std::string message, Severity severity) {
  Do(WriteLog{{.run = {key_.project, key_.job_id, trial},
               .task = std::string(texts::kService),
               .severity = severity,
               .time = now_,
               .message = std::move(message)}});
}

}  // namespace caip::engine
