// What an invariant saw, in words.

#include "base/time_text.h"
#include "harness/simulation/invariants.h"

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

}  // namespace caip::harness
