#pragma once
// What must hold of every saved state and every launch, whatever happens. Each has a name; what is
// broken is kept, with the name first.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/run_note.h"
#include "spec/lifecycle.h"
#include "spec/replica_outcome.h"
#include "tests/support/simulated_engine.h"

namespace caip::engine {

class Invariants {
 public:
  explicit Invariants(SimulatedEngine& world) : world_(world) {
    world.store.on_save = [this](const JobRecord* before, const JobRecord& after) {
      const auto note = ParseRunNote(after.run);
      Hold(note.ok(), "the note can be read", after);
      Saved(after);
      if (!note.ok()) return;
      Within(*note, after);
      RunNote& last = notes_[{after.project, after.job.job_id, ""}];
      if (before) Changed(before->job, last, after.job, *note, after);
      last = *note;
    };
    world.launcher.on_launch = [this](const ReplicaLaunch& launch) { Launched(launch); };
  }

  const std::vector<std::string>& broken() const { return broken_; }
  size_t saves() const { return saves_; }

  /// To be asked when nothing will happen any more.
  void AtTheEnd() {
    for (const JobRecord& record : world_.store.InOrder()) {
      Hold(IsTerminal(record.job.state), "every job ends", record);
      Hold(world_.JobOf(record.job.job_id).job_position == 0, "no ended job is queued", record);
    }
    HoldWorld(world_.engine->Idle(), "the engine is idle at the end");
    HoldWorld(world_.devices.lent() == 0, "all devices are given back");
    HoldWorld(world_.addresses.lent() == 0, "all addresses are given back");
    HoldWorld(world_.launcher.Live().empty(), "no replica outlives its job");
    HoldWorld(world_.packager.working() == 0, "no installation outlives its job");
    HoldWorld(world_.clock.holders() == 0, "nobody holds the clock at the end");
  }

 private:
  void Saved(const JobRecord& record) {
    ++saves_;
    const spec::Job& job = record.job;
    const bool terminal = IsTerminal(job.state);
    Hold(job.end_time.has_value() == terminal, "endTime exactly in a terminal state", record);
    Hold(job.create_time.has_value(), "createTime always", record);
    Hold(!job.start_time || *job.start_time >= *job.create_time, "started after creation", record);
    Hold(!job.end_time || *job.end_time >= job.start_time.value_or(*job.create_time),
         "ended after the start", record);
    Hold(job.state != spec::JobState::kSucceeded || job.start_time, "succeeded only what ran",
         record);
    Hold(job.state != spec::JobState::kRunning || job.start_time, "runs since its start", record);
    Hold((job.error_message != "") == (terminal && job.state != spec::JobState::kSucceeded),
         "errorMessage tells of a failure or a cancel, at the end", record);
    const RunKey run{record.project, job.job_id, ""};
    Hold(!terminal || !world_.launcher.AnyLives(run), "no replica lives at the end", record);
  }

  void Within(const RunNote& note, const JobRecord& record) {
    Hold(note.attempt <= 1 + spec::kJobRetriesMax, "at most three retries of a job", record);
    for (const auto& [id, replica] : note.replicas) {
      Hold(replica.restarts <= spec::kReplicaRestartsMax, "at most five restarts of a replica",
           record);
      Hold(replica.boot <= (1 + spec::kReplicaRestartsMax) * (1 + spec::kJobRetriesMax),
           "boots are restarts and retries", record);
    }
  }

  void Changed(const spec::Job& old, const RunNote& was, const spec::Job& now, const RunNote& is,
               const JobRecord& after) {
    bool legal = old.state == now.state;
    for (spec::JobEvent event : spec::kJobEvents) {
      legal = legal || spec::Next(old.state, event) == now.state;
    }
    Hold(legal, "states follow the table", after);
    Hold(!IsTerminal(old.state) || (old.state == now.state && old.end_time == now.end_time &&
                                    old.error_message == now.error_message),
         "a finished job never changes", after);
    Hold(old.create_time == now.create_time, "createTime never changes", after);
    Hold(!old.start_time || old.start_time == now.start_time, "startTime never changes", after);
    Hold(was.cluster_id == is.cluster_id, "the cluster keeps its id", after);
    Hold(was.attempt <= is.attempt, "attempts only grow", after);
    for (const auto& [id, note] : was.replicas) {
      Hold(is.replicas.at(id).boot >= note.boot, "boots only grow", after);
    }
  }

  void Launched(const ReplicaLaunch& launch) {
    const auto record = world_.store.Get(launch.key.run.project, launch.key.run.job_id);
    const RunNote& note = notes_.at(launch.key.run);  // as saved last
    Hold(note.replicas.at(launch.key.replica).boot == launch.key.boot, "saved before launched",
         *record);
    Hold(!IsTerminal(record->job.state), "nothing starts behind the end", *record);
    Hold(boots_.insert(launch.key).second, "no boot is started twice", *record);
    Hold(world_.devices.Holds(launch.key.run), "started with devices lent", *record);
    Hold(world_.addresses.Holds(launch.key.run), "started with addresses lent", *record);
    for (const ReplicaKey& living : world_.launcher.Live()) {
      Hold(living.run != launch.key.run || living.replica != launch.key.replica,
           "one life of a replica at a time", *record);
    }
    const std::pair who(launch.key.run, launch.key.replica);
    const auto [known, is_new] = environments_.emplace(who, launch.environment);
    Hold(is_new || known->second == launch.environment, "the same bytes at every start", *record);
  }

  void Hold(bool holds, const char* name, const JobRecord& record) {
    if (!holds) {
      broken_.push_back(std::string(name) + ": " + record.job.job_id + " in " +
                        std::string(spec::Name(record.job.state)));
    }
  }
  void HoldWorld(bool holds, const char* name) {
    if (!holds) broken_.push_back(name);
  }

  SimulatedEngine& world_;
  std::vector<std::string> broken_;
  std::map<RunKey, RunNote> notes_;
  std::set<ReplicaKey> boots_;
  std::map<std::pair<RunKey, spec::ReplicaId>, Environment> environments_;
  size_t saves_ = 0;
};

}  // namespace caip::engine
