#include "engine/job_run.h"

#include <algorithm>
#include <cassert>

#include "base/json.h"
#include "base/random.h"
#include "ml/environment.h"

namespace caip::engine {
namespace {

std::string Purpose(const RunKey& key, std::string_view what) {
  return key.project + "/" + key.job_id + "/" + key.trial + " " + std::string(what);
}

// The machines of a tuning job are its trials'.
ml::ClusterPlan PlanOf(const ml::TrainingInput& input, bool is_study) {
  ml::ClusterPlan plan = ml::PlanCluster(input);
  if (!is_study) return plan;
  plan.replicas.clear();
  plan.tpu_type.clear();
  return plan;
}

}  // namespace

// Ten hexadecimal digits in host names; the tenant project has sixteen.
RunNote JobRun::NewNote(const RunKey& key, const ml::TrainingInput& input, const RunRules& rules) {
  RunNote note;
  Random random = Random(rules.seed).Fork(Purpose(key, "names"));
  note.cluster_id = random.Hex(10);
  note.cloud_id = "w" + random.Hex(16) + "-ml";
  note.images = ImagesOf(input, rules.launch.images);
  const auto& view = rules.launch.storage_view;
  if (view && !input.job_dir.empty()) note.seen_job_dir = view(input.job_dir);
  return note;
}

JobRun::JobRun(RunKey key, JobRecord record, RunNote note, const RunRules& rules, Trials trials)
    : rules_(&rules),
      key_(std::move(key)),
      job_(std::move(record.job)),
      note_(std::move(note)),
      plan_(PlanOf(*job_.training_input, !IsTrial() && job_.training_input->hyperparameters)) {
  if (!IsTrial() && job_.training_input->hyperparameters) {
    study_.emplace(*job_.training_input->hyperparameters, ml::MetricTagOf(*job_.training_input),
                   RandomFor("trials").Next(), trials.earlier);
    study_->Restore(std::move(trials.own));
  }
  for (const ml::ReplicaPlan& replica : plan_.replicas) {
    replicas_[replica.id];
    note_.replicas[replica.id];
  }
}

JobRun JobRun::New(RunKey key, ml::Job job, Instant now, const RunRules& rules, Trials trials) {
  job.state = run::JobState::kQueued;
  job.create_time = now;
  RunNote note = NewNote(key, *job.training_input, rules);
  Random queue = Random(rules.seed).Fork(Purpose(key, "queue"));
  const run::Wait wait = run::Throw(rules.queue_delay, queue);
  note.queued_until = now + wait.delay;
  note.failed_tries = wait.failed_tries;
  note.out_of_stock = wait.out_of_stock;
  JobRecord record{key.project, std::move(job), {}};
  return JobRun(std::move(key), std::move(record), std::move(note), rules, std::move(trials));
}

JobRun JobRun::Restore(RunKey key, JobRecord record, const RunRules& rules, Trials trials) {
  Result<RunNote> note = ParseRunNote(record.run);
  RunNote known = note.ok() ? *std::move(note) : NewNote(key, *record.job.training_input, rules);
  return JobRun(std::move(key), std::move(record), std::move(known), rules, std::move(trials));
}

Effects JobRun::Handle(Instant now, const Event& event) {
  now_ = now;
  effects_.clear();
  if (phase_ != Phase::kDone) std::visit([this](const auto& e) { On(e); }, event);
  return std::move(effects_);
}

JobRecord JobRun::Record() const { return {key_.project, job_, ToJson(note_)}; }

void JobRun::MoveTo(run::JobEvent event) {
  const auto next = run::Next(job_.state, event);
  assert(next && "the event does not apply in this state");
  if (next) job_.state = *next;
}

void JobRun::Save() {
  if (study_) job_.training_output = study_->Output();
  Do(SaveJob{Record()});
}

void JobRun::LogService(std::string message, Severity severity) {
  Do(WriteLog{{.run = key_,
               .task = std::string(ml::texts::kService),
               .severity = severity,
               .time = now_,
               .message = std::move(message)}});
}

// The stations of a job. A trial's are told by its job, in words of their own.
void JobRun::LogLife(std::string message) {
  if (!IsTrial()) LogService(std::move(message));
}

void JobRun::LogReplica(run::ReplicaId id, std::string message, Severity severity) {
  Do(WriteLog{{.run = key_,
               .task = run::TaskName(id),
               .severity = severity,
               .time = now_,
               .message = std::move(message)}});
}

void JobRun::Start(TimerKind kind, Instant at, run::ReplicaId replica, int stamp) {
  Do(StartTimer{{kind, replica, stamp}, at});
}

Random JobRun::RandomFor(std::string_view purpose) const {
  return Random(rules_->seed).Fork(Purpose(key_, purpose));
}

ReplicaKey JobRun::KeyOf(run::ReplicaId id) const { return {key_, id, note_.replicas.at(id).boot}; }

bool JobRun::IsThisBoot(const ReplicaKey& key) const {
  const auto found = replicas_.find(key.replica);
  return found != replicas_.end() && found->second.life != Life::kOff && key == KeyOf(key.replica);
}

LaunchFacts JobRun::FactsOf(run::ReplicaId id) const {
  static const Environment kNone;
  const auto devices = devices_.find(id);
  return {rules_->launch, *job_.training_input,
          plan_,          note_,
          prepared_,      devices == devices_.end() ? kNone : devices->second,
          KeyOf(id),      job_texts_ ? &*job_texts_ : nullptr};
}

bool JobRun::MasterFinished() const {
  const auto master = note_.replicas.find(kMaster);
  return master != note_.replicas.end() && master->second.finished;
}

bool JobRun::AllGone() const {
  if (study_) return study_->Live().empty();
  return std::all_of(replicas_.begin(), replicas_.end(),
                     [](const auto& entry) { return entry.second.life == Life::kOff; });
}

}  // namespace caip::engine
