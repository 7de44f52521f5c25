#include "harness/simulation/invariants.h"

#include <algorithm>
#include <set>

#include "run/lifecycle.h"
#include "run/replica_outcome.h"

namespace caip::harness {
namespace {

using run::JobState;

bool Ends(const SaveFacts& f) { return run::IsTerminal(f.record.job.state); }

using Trials = std::vector<ml::HyperparameterOutput>;

const Trials& TrialsOf(const ml::Job& job) {
  static const Trials kNone;
  return job.training_output ? job.training_output->trials : kNone;
}
const Trials& TrialsOf(const SaveFacts& f) { return TrialsOf(f.tuned); }
const ml::HyperparameterSpec* TuningOf(const SaveFacts& f) {
  const auto& input = f.tuned.training_input;
  return input && input->hyperparameters ? &*input->hyperparameters : nullptr;
}

bool EndTime(const SaveFacts& f) { return f.record.job.end_time.has_value() == Ends(f); }
bool CreateTime(const SaveFacts& f) { return f.record.job.create_time.has_value(); }

bool StartedAfterCreation(const SaveFacts& f) {
  const run::Job& job = f.record.job;
  return !job.start_time || *job.start_time >= *job.create_time;
}

bool EndedAfterStart(const SaveFacts& f) {
  const run::Job& job = f.record.job;
  return !job.end_time || *job.end_time >= job.start_time.value_or(*job.create_time);
}

bool RanBeforeSuccess(const SaveFacts& f) {
  const run::Job& job = f.record.job;
  const bool needs_start = job.state == JobState::kSucceeded || job.state == JobState::kRunning;
  return !needs_start || job.start_time.has_value();
}

bool MessageOfFailure(const SaveFacts& f) {
  const JobState state = f.record.job.state;
  const bool failed =
      state == JobState::kFailed || state == JobState::kCancelling || state == JobState::kCancelled;
  return !f.record.job.error_message.empty() == failed;
}

bool NothingLivesAtTheEnd(const SaveFacts& f) {
  return !Ends(f) || !f.world.launcher.AnyLives(f.record.job.key);
}

bool RetriesAreFew(const SaveFacts& f) { return f.note.attempt <= 1 + run::kJobRetriesMax; }

bool RestartsAreFew(const SaveFacts& f) {
  return std::ranges::all_of(f.note.replicas, [](const auto& entry) {
    return entry.second.restarts <= run::kReplicaRestartsMax;
  });
}

bool BootsAreRestartsAndRetries(const SaveFacts& f) {
  constexpr int kMost = (1 + run::kReplicaRestartsMax) * (1 + run::kJobRetriesMax);
  return std::ranges::all_of(f.note.replicas,
                             [](const auto& entry) { return entry.second.boot <= kMost; });
}

bool StatesFollowTheTable(const SaveFacts& f) {
  if (!f.last_record) return true;
  const JobState old = f.last_record->job.state;
  return old == f.record.job.state || std::ranges::any_of(run::kJobEvents, [&](auto event) {
           return run::Next(old, event) == f.record.job.state;
         });
}

bool FinishedStays(const SaveFacts& f) {
  if (!f.last_record || !run::IsTerminal(f.last_record->job.state)) return true;
  const run::Job& old = f.last_record->job;
  const run::Job& now = f.record.job;
  return old.state == now.state && old.end_time == now.end_time &&
         old.error_message == now.error_message;
}

bool CreateTimeStays(const SaveFacts& f) {
  return !f.last_record || f.last_record->job.create_time == f.record.job.create_time;
}

bool StartTimeStays(const SaveFacts& f) {
  return !f.last_record || !f.last_record->job.start_time ||
         f.last_record->job.start_time == f.record.job.start_time;
}

bool ClusterStays(const SaveFacts& f) {
  return !f.last_note || f.last_note->names.cluster_id == f.note.names.cluster_id;
}

bool AttemptsGrow(const SaveFacts& f) {
  return !f.last_note || f.last_note->attempt <= f.note.attempt;
}

bool BootsGrow(const SaveFacts& f) {
  if (!f.last_note) return true;
  return std::ranges::all_of(f.last_note->replicas, [&](const auto& entry) {
    const auto found = f.note.replicas.find(entry.first);
    return found != f.note.replicas.end() && found->second.boot >= entry.second.boot;
  });
}

bool TrialsAreFew(const SaveFacts& f) {
  const auto* tuning = TuningOf(f);
  return !tuning || TrialsOf(f).size() <= static_cast<size_t>(tuning->max_trials.value_or(1));
}

bool FewTrialsAtATime(const SaveFacts& f) {
  const auto* tuning = TuningOf(f);
  const auto live = std::ranges::count_if(
      TrialsOf(f), [](const auto& trial) { return !run::IsTerminal(trial.state); });
  return !tuning || live <= tuning->max_parallel_trials.value_or(1);
}

bool NoTrialTwice(const SaveFacts& f) {
  std::set<std::string> ids;
  return std::ranges::all_of(TrialsOf(f),
                             [&](const auto& trial) { return ids.insert(trial.trial_id).second; });
}

bool TrialsEndWithTheirJob(const SaveFacts& f) {
  return !Ends(f) || std::ranges::all_of(TrialsOf(f), [](const auto& trial) {
    return run::IsTerminal(trial.state);
  });
}

bool CompletedAreSuccesses(const SaveFacts& f) {
  const auto& output = f.tuned.training_output;
  return !output || output->completed_trial_count ==
                        std::ranges::count_if(output->trials, [](const auto& trial) {
                          return trial.state == JobState::kSucceeded;
                        });
}

bool BestFirst(const SaveFacts& f) {
  const auto* tuning = TuningOf(f);
  return std::ranges::is_sorted(TrialsOf(f), [&](const auto& a, const auto& b) {
    if (!a.final_metric || !b.final_metric) return a.final_metric && !b.final_metric;
    const double better = a.final_metric->second;
    const double worse = b.final_metric->second;
    return tuning->goal == "MINIMIZE" ? better < worse : better > worse;
  });
}

// Everything that a client has seen in the last saved state is still visible and unchanged.
bool FinishedTrialsStay(const SaveFacts& f) {
  if (!f.last_tuned) return true;
  const Trials& trials = TrialsOf(f);
  return std::ranges::all_of(TrialsOf(*f.last_tuned), [&](const auto& old) {
    const auto now = std::ranges::find(trials, old.trial_id, &ml::HyperparameterOutput::trial_id);
    if (now == trials.end() || now->hyperparameters != old.hyperparameters) return false;
    return !run::IsTerminal(old.state) ||
           (now->state == old.state && now->end_time == old.end_time &&
            now->final_metric == old.final_metric);
  });
}

constexpr Invariant<SaveFacts> kOfEverySave[] = {
    {"endTime exactly in a terminal state", EndTime},
    {"createTime always", CreateTime},
    {"started after creation", StartedAfterCreation},
    {"ended after the start", EndedAfterStart},
    {"startTime before a job runs or succeeds", RanBeforeSuccess},
    {"errorMessage exactly after a failure or a cancel", MessageOfFailure},
    {"no replica lives when its job has ended", NothingLivesAtTheEnd},
    {"at most three retries of a job", RetriesAreFew},
    {"at most five restarts of a replica", RestartsAreFew},
    {"as many boots as restarts and retries allow", BootsAreRestartsAndRetries},
    {"states follow the table", StatesFollowTheTable},
    {"a finished job never changes", FinishedStays},
    {"createTime never changes", CreateTimeStays},
    {"startTime never changes", StartTimeStays},
    {"the cluster keeps its id", ClusterStays},
    {"attempts only grow", AttemptsGrow},
    {"boots only grow", BootsGrow},
    {"at most maxTrials trials", TrialsAreFew},
    {"at most maxParallelTrials trials at a time", FewTrialsAtATime},
    {"no trial is shown twice", NoTrialTwice},
    {"an ended job has no live trial", TrialsEndWithTheirJob},
    {"completedTrialCount counts the successes", CompletedAreSuccesses},
    {"the best trial comes first", BestFirst},
    {"a finished trial never changes", FinishedTrialsStay},
};

bool SavedBeforeStarted(const StartFacts& f) {
  const auto found = f.note.replicas.find(f.launch.key.replica);
  return found != f.note.replicas.end() && found->second.boot == f.launch.key.boot;
}
bool NothingStartsAfterTheEnd(const StartFacts& f) { return !run::IsTerminal(f.state); }
bool NoBootTwice(const StartFacts& f) { return f.is_new_boot; }
bool WithDevices(const StartFacts& f) { return f.world.devices.Holds(f.launch.key.run); }
bool WithAddresses(const StartFacts& f) { return f.world.addresses.Holds(f.launch.key.run); }
bool OneLifeAtATime(const StartFacts& f) {
  return !f.world.launcher.Lives(f.launch.key.run, f.launch.key.replica);
}
bool TheSameBytes(const StartFacts& f) { return f.is_as_before; }

constexpr Invariant<StartFacts> kOfEveryStart[] = {
    {"a boot is saved before its start", SavedBeforeStarted},
    {"no replica starts after the end of its job", NothingStartsAfterTheEnd},
    {"no boot is started twice", NoBootTwice},
    {"devices are lent before a start", WithDevices},
    {"addresses are lent before a start", WithAddresses},
    {"at most one boot of a replica lives", OneLifeAtATime},
    {"the same environment at every start", TheSameBytes},
};

bool TimeIsHeld(const WorldFacts& f) {
  const size_t lives = f.world.launcher.live() + f.world.packager.working();
  return f.world.clock.holders() >= static_cast<int>(lives);
}
bool DevicesGoWithAddresses(const WorldFacts& f) {
  return f.world.devices.lent() == f.world.addresses.lent();
}

constexpr Invariant<WorldFacts> kOfEveryStep[] = {
    {"the clock is held while a replica or an installation lives", TimeIsHeld},
    {"devices and addresses are lent together", DevicesGoWithAddresses},
};

bool EveryJobEnds(const WorldFacts& f) {
  return std::ranges::all_of(f.world.store.InOrder(), [](const engine::JobRecord& record) {
    return run::IsTerminal(record.job.state);
  });
}
bool EveryTrialIsShown(const WorldFacts& f) {
  return std::ranges::all_of(f.world.store.InOrder(), [&](const engine::JobRecord& record) {
    const run::RunKey& key = record.job.key;
    const auto kept = f.world.store.Trials(key.project, key.job_id);
    const auto output = f.world.JobOf(key.job_id).training_output;
    if (!output) return kept->empty();
    return output->trials.size() == kept->size() &&
           std::ranges::all_of(*kept, [&](const engine::TrialRecord& trial) {
             const auto shown = std::ranges::find(output->trials, trial.job.key.trial,
                                                  &ml::HyperparameterOutput::trial_id);
             return shown != output->trials.end() && shown->state == trial.job.state;
           });
  });
}
bool NoEndedJobIsQueued(const WorldFacts& f) {
  return std::ranges::all_of(f.world.store.InOrder(), [&](const engine::JobRecord& record) {
    return f.world.JobOf(record.job.key.job_id).job_position == 0;
  });
}
bool EngineIdle(const WorldFacts& f) { return f.world.engine->Idle(); }
bool DevicesAreBack(const WorldFacts& f) { return f.world.devices.lent() == 0; }
bool AddressesAreBack(const WorldFacts& f) { return f.world.addresses.lent() == 0; }
bool NoReplicaIsLeft(const WorldFacts& f) { return f.world.launcher.live() == 0; }
bool NoInstallationIsLeft(const WorldFacts& f) { return f.world.packager.working() == 0; }
bool NobodyHoldsTime(const WorldFacts& f) { return f.world.clock.holders() == 0; }

constexpr Invariant<WorldFacts> kOfTheEnd[] = {
    {"every job ends", EveryJobEnds},
    {"a job shows every saved trial with its state", EveryTrialIsShown},
    {"no ended job is queued", NoEndedJobIsQueued},
    {"the engine is idle at the end", EngineIdle},
    {"all devices are released", DevicesAreBack},
    {"all addresses are released", AddressesAreBack},
    {"no replica outlives its job", NoReplicaIsLeft},
    {"no installation outlives its job", NoInstallationIsLeft},
    {"the clock has no holders at the end", NobodyHoldsTime},
};

}  // namespace

std::span<const Invariant<SaveFacts>> InvariantsOfEverySave() { return kOfEverySave; }
std::span<const Invariant<StartFacts>> InvariantsOfEveryStart() { return kOfEveryStart; }
std::span<const Invariant<WorldFacts>> InvariantsOfEveryStep() { return kOfEveryStep; }
std::span<const Invariant<WorldFacts>> InvariantsOfTheEnd() { return kOfTheEnd; }

}  // namespace caip::harness
