#include "harness/simulation/invariant_monitor.h"

namespace caip::harness {

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
  Check(before, after, "");
}

void Witness::TrialSaved(const engine::TrialRecord& after) {
  const engine::JobRecord record{after.run_key.project, after.job, after.run};
  const auto known = known_.find(after.run_key);
  std::optional<engine::JobRecord> before;
  if (known != known_.end()) before = known->second.trial;
  Check(before ? &*before : nullptr, record, after.run_key.trial);
  known_[after.run_key].trial = record;
}

// What is durable is told once, whatever happens between.
void Witness::Reported(const engine::RunKey& trial, const std::vector<engine::Report>& reports) {
  for (const engine::Report& report : reports) {
    if (reports_.insert({trial, report.step, report.time}).second) continue;
    Accuse("no report is kept twice",
           trial.job_id + " trial " + trial.trial + " step " + std::to_string(report.step));
  }
}

void Witness::Check(const engine::JobRecord* before, const engine::JobRecord& after,
                    const std::string& trial) {
  ++saves_;
  auto note = engine::ParseRunNote(after.run);
  if (!note.ok()) {
    Accuse("the note can be read", after.job.job_id + ": " + note.error().message);
    return;
  }
  Known& known = known_[{after.project, after.job.job_id, trial}];
  SaveFacts facts{world_, after, *note};
  facts.trial = trial;
  if (before) {
    facts.last_record = before;
    facts.last_note = &known.note;
    for (const auto& [id, replica] : note->replicas) {
      const auto was = known.note.replicas.find(id);
      restarts_ += was != known.note.replicas.end() && was->second.restarts < replica.restarts;
    }
  }
  Check(OfEverySave(), facts);
  known.state = after.job.state;
  known.note = *std::move(note);
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
