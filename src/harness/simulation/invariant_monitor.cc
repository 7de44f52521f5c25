#include "harness/simulation/invariant_monitor.h"

#include "base/json.h"
#include "ml/render.h"

namespace caip::harness {
namespace {

// Only jobs with trials are rendered: that costs more than all other checks.
ml::Job TunedJob(const run::Job& job) {
  if (!job.document->contains("trainingOutput")) return {};
  auto rendered = ml::RenderJob(job);
  return rendered.ok() ? *std::move(rendered) : ml::Job{};
}

}  // namespace

Witness::Witness(SimulatedEngine& world) : world_(world) {
  world.store.on_save = [this](const auto* before, const auto& after) { Saved(before, after); };
  world.store.on_trial = [this](const engine::TrialRecord& after) { TrialSaved(after); };
  world.store.on_reports = [this](const auto& trial, const auto& more) { Reported(trial, more); };
  world.launcher.on_launch = [this](const engine::ReplicaLaunch& launch) { Starts(launch); };
  world.after_step = [this] { Check(OfEveryMoment(), WorldFacts{world_}); };
}

void Witness::AtTheEnd() { Check(OfTheEnd(), WorldFacts{world_}); }

void Witness::Accuse(std::string invariant, std::string saw) {
  broken_.push_back({std::move(invariant), std::move(saw)});
}

void Witness::Saved(const engine::JobRecord* before, const engine::JobRecord& after) {
  Check(before, after);
}

void Witness::TrialSaved(const engine::TrialRecord& after) {
  const engine::JobRecord record{after.job, after.note};
  const auto known = known_.find(after.job.key);
  std::optional<engine::JobRecord> before;
  if (known != known_.end()) before = known->second.trial;
  Check(before ? &*before : nullptr, record);
  known_[after.job.key].trial = record;
}

// What is durable is told once, whatever happens between.
void Witness::Reported(const engine::RunKey& trial, const std::vector<engine::Report>& reports) {
  for (const engine::Report& report : reports) {
    if (reports_.insert({trial, report.step, report.time}).second) continue;
    Accuse("no report is kept twice",
           trial.job_id + " trial " + trial.trial + " step " + std::to_string(report.step));
  }
}

void Witness::Check(const engine::JobRecord* before, const engine::JobRecord& after) {
  ++saves_;
  auto note = engine::ParseRunNote(after.note);
  if (!note.ok()) {
    Accuse("the note can be read", after.job.key.job_id + ": " + note.error().message);
    return;
  }
  Known& known = known_[after.job.key];
  ml::Job tuned = TunedJob(after.job);
  SaveFacts facts{world_, after, *note, tuned};
  if (before) {
    facts.last_record = before;
    facts.last_note = &known.note;
    facts.last_tuned = &known.tuned;
    for (const auto& [id, replica] : note->replicas) {
      const auto was = known.note.replicas.find(id);
      restarts_ += was != known.note.replicas.end() && was->second.restarts < replica.restarts;
    }
  }
  Check(OfEverySave(), facts);
  known.state = after.job.state;
  known.note = *std::move(note);
  known.tuned = std::move(tuned);
}

void Witness::Starts(const engine::ReplicaLaunch& launch) {
  const Known& known = known_[launch.key.run];
  StartFacts facts{world_, launch, known.state, known.note};
  facts.is_new_boot = boots_.insert(launch.key).second;
  const auto [first, is_first] =
      environments_.try_emplace({launch.key.run, launch.key.replica}, launch.environment);
  facts.is_as_before = is_first || first->second == launch.environment;
  Check(OfEveryStart(), facts);
}

template <typename Facts>
void Witness::Check(std::span<const Invariant<Facts>> invariants, const Facts& facts) {
  for (const Invariant<Facts>& invariant : invariants) {
    if (!invariant.holds(facts)) Accuse(invariant.name, Describe(facts));
  }
}

}  // namespace caip::harness
