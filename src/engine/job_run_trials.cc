// Chapter: a tuning job's trials. Each is a run of its own with its own cluster; the job's run has
// no replicas, and drives them.

#include "engine/job_run.h"
#include "run/texts.h"

namespace caip::engine {

using run::JobEvent;
using run::JobState;
using run::StudyStep;
namespace texts = run::texts;

// Runs trials instead of launching replicas: everything is prepared.
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
        End(JobEvent::kGaveUp, TrialsFailedText(), run::EndCause::kTrialsFailed);
        return;
    }
  }
}

void JobRun::On(const ValuesChosen& chosen) {
  if (!study_ || phase_ != Phase::kActive) return;  // the job has ended in the meantime
  if (study_->Begin(chosen, now_)) {
    BeginNewTrial(chosen.trial);
  } else {
    LogService(texts::GridExhausted(static_cast<int64_t>(study_->known())));
  }
  NextTrials();
}

void JobRun::BeginNewTrial(const std::string& trial) {
  static const run::Document kNone = std::make_shared<const Json>(Json::object());
  const run::RunSpec& spec = api_->spec();
  const RunKey trial_key = key().WithTrial(trial);
  run::Job job{.key = trial_key,
               .api = job_.api,
               .state = JobState::kQueued,
               .create_time = now_,
               .document = kNone};  // that of its job
  RunNote note = NewNote(job, spec, *rules_);
  note.images = note_.images;
  note.output_directory = note_.output_directory;
  note.queued_until = now_;
  note.values = study_->Of(trial).shown.values;
  LogTrial(trial, texts::TrialBegins(trial, spec.tuning->study.space, note.values));
  Do(BeginTrial{{std::move(job), ToJson(note)}, prepared_, true});
}

void JobRun::On(const Reported& reported) {
  if (!study_) return;
  std::vector<Report> fresh = study_->TakeIn(reported.trial, reported.reports);
  if (fresh.empty()) return;
  Do(SaveReports{key().WithTrial(reported.trial), std::move(fresh)});
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
  for (const run::Trial& shown : study_->Summary().trials) {
    if (shown.id != moved.trial) continue;
    LogTrial(moved.trial, texts::TrialEnded(shown, study_->metric_tag(), moved.job.error_message),
             moved.job.state == JobState::kFailed ? Severity::kError : Severity::kInfo);
  }
  Save();
  if (phase_ != Phase::kActive) return IfAllStopped();
  if (moved.job.state == JobState::kFailed && !moved.launched) {
    // No machine: the following trials would get none either.
    End(JobEvent::kGaveUp, moved.job.error_message, moved.job.end_cause);
  } else {
    NextTrials();
  }
}

std::string JobRun::TrialsFailedText() const {
  const Study::Trial& last = *study_->LastFailed();
  return api_->TrialsFailed(study_->progress(), last.shown.id, last.shown.error_message);
}

// Trials end for the reason of their job.
void JobRun::StopTrials() {
  const std::string reason =
      job_.state == JobState::kCancelling ? note_.ending->message : texts::TrialCancelledWithJob();
  for (const std::string& trial : study_->Live()) Do(TellTrial{trial, CancelAsked{reason}});
}

// A trial receives this: what it has reported counts as its result.
void JobRun::On(const StopAsked&) {
  if (!IsTrial() || job_.state != JobState::kRunning || note_.ending) return;
  note_.stopped_early = true;
  End(JobEvent::kSucceeded, "");
}

void JobRun::LogTrial(const std::string& trial, std::string message, Severity severity) {
  Do(WriteLog{{.run = key().WithTrial(trial),
               .task = std::string(run::kServiceTask),
               .severity = severity,
               .time = now_,
               .message = std::move(message)}});
}

}  // namespace caip::engine
