#include "harness/simulation/invariant_monitor.h"

#include "base/json.h"
#include "base/time_text.h"
#include "harness/simulation/invariants.h"
#include "ml/render.h"

namespace caip::harness {
namespace {

std::string TimeText(const char* name, const std::optional<Instant>& time) {
  return std::string(", ") + name + " " + (time ? Rfc3339(*time, 3) : "none");
}

std::string JobText(const run::Job& job) {
  std::string text(run::Name(job.state));
  text += TimeText("createTime", job.create_time) + TimeText("startTime", job.start_time) +
          TimeText("endTime", job.end_time);
  return job.error_message.empty() ? text : text + ", errorMessage '" + job.error_message + "'";
}

std::string NoteText(const engine::RunNote& note) {
  std::string text =
      "cluster " + note.names.cluster_id + ", attempt " + std::to_string(note.attempt);
  for (const auto& [id, replica] : note.replicas) {
    text += ", " + run::Name(id) + " boot " + std::to_string(replica.boot) + " restarts " +
            std::to_string(replica.restarts) + (replica.finished ? " finished" : "");
  }
  return text;
}

}  // namespace

std::string Describe(const SaveFacts& facts) {
  std::string text = "at " + Rfc3339(facts.world.clock.Now(), 3) + " " +
                     facts.record.job.key.job_id + " was saved as " + JobText(facts.record.job) +
                     "; " + NoteText(facts.note);
  if (facts.last_record && facts.last_note) {
    text += "; before: " + JobText(facts.last_record->job) + "; " + NoteText(*facts.last_note);
  }
  return text;
}

std::string Describe(const StartFacts& facts) {
  return "at " + Rfc3339(facts.world.clock.Now(), 3) + " " + facts.launch.key.run.job_id +
         " started " + run::Name(facts.launch.key.replica) + " boot " +
         std::to_string(facts.launch.key.boot) + "; saved: " + std::string(run::Name(facts.state)) +
         ", " + NoteText(facts.note);
}

std::string Describe(const WorldFacts& facts) {
  const SimulatedEngine& world = facts.world;
  std::string text = "at " + Rfc3339(world.clock.Now(), 3);
  for (const engine::JobRecord& record : world.store.InOrder()) {
    text += ", " + record.job.key.job_id + " " + std::string(run::Name(record.job.state));
  }
  for (const engine::ReplicaKey& key : world.launcher.Live()) {
    text += ", " + run::Name(key.replica) + " of " + key.run.job_id + " lives";
  }
  return text + "; " + std::to_string(world.devices.lent()) + " runs hold devices, " +
         std::to_string(world.addresses.lent()) + " addresses; " +
         std::to_string(world.packager.working()) + " installations; the clock has " +
         std::to_string(world.clock.holders()) + " holders";
}

namespace {

// Renders only jobs with trials, because rendering costs more than all other checks.
ml::Job TunedJob(const run::Job& job) {
  if (!job.document->contains("trainingOutput")) return {};
  auto rendered = ml::RenderJob(job);
  return rendered.ok() ? *std::move(rendered) : ml::Job{};
}

}  // namespace

InvariantMonitor::InvariantMonitor(SimulatedEngine& world) : world_(world) {
  world.store.on_save = [this](const auto* before, const auto& after) { Saved(before, after); };
  world.store.on_trial = [this](const engine::TrialRecord& after) { TrialSaved(after); };
  world.store.on_reports = [this](const auto& trial, const auto& more) { Reported(trial, more); };
  world.launcher.on_launch = [this](const engine::ReplicaLaunch& launch) { Starts(launch); };
  world.after_step = [this] { Check(InvariantsOfEveryStep(), WorldFacts{world_}); };
}

void InvariantMonitor::CheckEnd() { Check(InvariantsOfTheEnd(), WorldFacts{world_}); }

void InvariantMonitor::AddViolation(std::string invariant, std::string found) {
  broken_.push_back({std::move(invariant), std::move(found)});
}

void InvariantMonitor::Saved(const engine::JobRecord* before, const engine::JobRecord& after) {
  Check(before, after);
}

void InvariantMonitor::TrialSaved(const engine::TrialRecord& after) {
  const engine::JobRecord record{after.job, after.note};
  const auto known = known_.find(after.job.key);
  std::optional<engine::JobRecord> before;
  if (known != known_.end()) before = known->second.trial;
  Check(before ? &*before : nullptr, record);
  known_[after.job.key].trial = record;
}

// Each report is saved once, even across restarts.
void InvariantMonitor::Reported(const engine::RunKey& trial,
                                const std::vector<engine::Report>& reports) {
  for (const engine::Report& report : reports) {
    if (reports_.insert({trial, report.step, report.time}).second) continue;
    AddViolation("no report is kept twice",
                 trial.job_id + " trial " + trial.trial + " step " + std::to_string(report.step));
  }
}

void InvariantMonitor::Check(const engine::JobRecord* before, const engine::JobRecord& after) {
  ++saves_;
  auto note = engine::ParseRunNote(after.note);
  if (!note.ok()) {
    AddViolation("the note can be read", after.job.key.job_id + ": " + note.error().message);
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
  Check(InvariantsOfEverySave(), facts);
  known.state = after.job.state;
  known.note = *std::move(note);
  known.tuned = std::move(tuned);
}

void InvariantMonitor::Starts(const engine::ReplicaLaunch& launch) {
  const Known& known = known_[launch.key.run];
  StartFacts facts{world_, launch, known.state, known.note};
  facts.is_new_boot = boots_.insert(launch.key).second;
  const auto [first, is_first] =
      environments_.try_emplace({launch.key.run, launch.key.replica}, launch.environment);
  facts.is_as_before = is_first || first->second == launch.environment;
  Check(InvariantsOfEveryStart(), facts);
}

template <typename Facts>
void InvariantMonitor::Check(std::span<const Invariant<Facts>> invariants, const Facts& facts) {
  for (const Invariant<Facts>& invariant : invariants) {
    if (!invariant.holds(facts)) AddViolation(invariant.name, Describe(facts));
  }
}

}  // namespace caip::harness
