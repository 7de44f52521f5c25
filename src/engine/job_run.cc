#include "engine/job_run.h"

#include <algorithm>
#include <cassert>
#include <iterator>

#include "base/json.h"
#include "base/random.h"
#include "run/texts.h"

namespace caip::engine {
namespace {

std::string Purpose(const RunKey& key, std::string_view what) {
  return key.project + "/" + key.job_id + "/" + key.trial + " " + std::string(what);
}

}  // namespace

RunNote JobRun::NewNote(const run::Job& job, const run::RunSpec& spec, const RunRules& rules) {
  RunNote note;
  Random random = Random(rules.seed).Fork(Purpose(job.key, "names"));
  note.names = rules.apis.Find(job.api)->MakeNames(random);
  const auto& view = rules.launch.storage_view;
  if (view && !spec.output_directory.empty()) note.output_directory = view(spec.output_directory);
  return note;
}

JobRun::JobRun(JobRecord record, RunNote note, std::shared_ptr<const run::ApiJob> api,
               const RunRules& rules, Trials trials)
    : rules_(&rules),
      job_(std::move(record.job)),
      note_(std::move(note)),
      api_(std::move(api)),
      lead_(api_->spec().lead()) {
  const run::RunSpec& spec = api_->spec();
  if (!IsTrial() && spec.tuning) {
    study_.emplace(*spec.tuning, RandomFor("trials").Next(), trials.earlier);
    study_->Restore(std::move(trials.own));
  } else {
    plan_ = run::PlanReplicas(spec);
  }
  for (const run::PlannedReplica& replica : plan_) {
    replicas_[replica.id];
    note_.replicas[replica.id];
  }
}

JobRun JobRun::New(run::AcceptedJob accepted, ImageAnswers images, Instant now,
                   const RunRules& rules, Trials trials) {
  run::Job job{.key = std::move(accepted.key),
               .api = std::move(accepted.api),
               .state = run::JobState::kQueued,
               .create_time = now,
               .document = std::move(accepted.document)};
  RunNote note = NewNote(job, accepted.job->spec(), rules);
  note.images = std::move(images);
  Random queue = Random(rules.seed).Fork(Purpose(job.key, "queue"));
  const run::Wait wait = run::Throw(rules.queue_delay, queue);
  note.queued_until = now + wait.delay;
  note.failed_tries = wait.failed_tries;
  note.out_of_stock = wait.out_of_stock;
  return JobRun({std::move(job), {}}, std::move(note), std::move(accepted.job), rules,
                std::move(trials));
}

JobRun JobRun::Restore(JobRecord record, std::shared_ptr<const run::ApiJob> api,
                       ImageAnswers images, const RunRules& rules, Trials trials) {
  Result<RunNote> note = ParseRunNote(record.note);
  RunNote known;
  if (note.ok()) {
    known = *std::move(note);
  } else {
    known = NewNote(record.job, api->spec(), rules);
    known.images = std::move(images);
  }
  return JobRun(std::move(record), std::move(known), std::move(api), rules, std::move(trials));
}

Effects JobRun::Handle(Instant now, const Event& event) {
  now_ = now;
  effects_.clear();
  if (phase_ != Phase::kDone) std::visit([this](const auto& e) { On(e); }, event);
  return std::move(effects_);
}

JobRecord JobRun::Record() const { return {job_, ToJson(note_)}; }

void JobRun::MoveTo(run::JobEvent event) {
  const auto next = run::Next(job_.state, event);
  assert(next && "the event does not apply in this state");
  if (next) job_.state = *next;
}

// Before a save that decides an end: a job that has ended has all its lines. An earlier effect of
// the kind is not needed if nothing that follows it depends on it.
void JobRun::StoreLog() {
  const auto depends = [](const Effect& effect) {
    return !std::holds_alternative<WriteLog>(effect) && !std::holds_alternative<StopTimer>(effect);
  };
  const auto last = std::find_if(effects_.rbegin(), effects_.rend(), depends);
  const bool is_again = last != effects_.rend() && std::holds_alternative<FlushLog>(*last);
  if (is_again) effects_.erase(std::next(last).base());
  Do(FlushLog{});
}

void JobRun::Save() {
  if (study_) job_.document = api_->WithTrials(job_.document, study_->Summary());
  Do(SaveJob{Record()});
}

void JobRun::LogService(std::string message, Severity severity) {
  Do(WriteLog{{.run = key(),
               .task = std::string(run::kServiceTask),
               .severity = severity,
               .time = now_,
               .message = std::move(message)}});
}

// A trial's events are reported by its job, in other words.
void JobRun::LogJobEvent(run::LoggedJobEvent event, Severity severity) {
  if (IsTrial()) return;
  for (std::string& line : api_->Lines(event, key())) LogService(std::move(line), severity);
}

void JobRun::LogReplica(const run::ReplicaId& id, std::string message, Severity severity) {
  Do(WriteLog{{.run = key(),
               .task = api_->TaskName(id),
               .severity = severity,
               .time = now_,
               .message = std::move(message)}});
}

void JobRun::LogReplicaEvent(const run::ReplicaFailure& failure, run::LoggedReplicaEvent event,
                             Severity severity) {
  for (std::string& line : api_run_->Lines(event, failure)) {
    LogReplica(failure.replica, std::move(line), severity);
  }
}

void JobRun::Start(TimerKind kind, Instant at, const run::ReplicaId& replica, int stamp) {
  Do(StartTimer{{kind, replica, stamp}, at});
}

Random JobRun::RandomFor(std::string_view purpose) const {
  return Random(rules_->seed).Fork(Purpose(key(), purpose));
}

ReplicaKey JobRun::KeyOf(const run::ReplicaId& id) const {
  return {key(), id, note_.replicas.at(id).boot};
}

bool JobRun::IsThisBoot(const ReplicaKey& key) const {
  const auto found = replicas_.find(key.replica);
  return found != replicas_.end() && found->second.life != Life::kOff && key == KeyOf(key.replica);
}

LaunchFacts JobRun::FactsOf(const run::ReplicaId& id) const {
  static const LentDevices kNone;
  const auto devices = devices_.find(id);
  const ReplicaKey key = KeyOf(id);
  return {.job = *api_,
          .run = *api_run_,
          .plan = plan_,
          .note = note_,
          .prepared = prepared_,
          .devices = devices == devices_.end() ? kNone : devices->second,
          .key = key,
          .boot_disk = rules_->launch.boot_disk(key),
          .path = rules_->launch.path};
}

bool JobRun::RunsContainer(const run::ReplicaId& id) const {
  return std::holds_alternative<run::ContainerImage>(api_->spec().GroupOf(id).program);
}

bool JobRun::LeadFinished() const {
  const auto lead = note_.replicas.find(lead_);
  return lead != note_.replicas.end() && lead->second.finished;
}

bool JobRun::AllGone() const {
  if (study_) return study_->Live().empty();
  return std::all_of(replicas_.begin(), replicas_.end(),
                     [](const auto& entry) { return entry.second.life == Life::kOff; });
}

}  // namespace caip::engine
