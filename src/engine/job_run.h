#pragma once
// One job from QUEUED to its end: event in, decision, effects out. No I/O, no clock, no threads.
//
//   kWaiting --Granted--> kPreparing --Prepared--> kActive --outcome--> kStopping --> kDone
//                              ^                                            |
//                              '------------- the whole job again ---------'
//
// A trial of a tuning job is such a run as well, without its own queue delay, installation and
// deadlines; the tuning job itself is one that has trials in the place of replicas.
//
// Its chapters: job_run_queue.cc, job_run_prepare.cc, job_run_replicas.cc, job_run_trials.cc,
// job_run_end.cc.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/events.h"
#include "engine/run_note.h"
#include "engine/run_rules.h"
#include "engine/study.h"
#include "ml/run_texts.h"
#include "run/replica_outcome.h"

namespace caip::engine {

/// Owned by the engine's thread. `rules` outlives it.
class JobRun {
 public:
  enum class Phase { kWaiting, kPreparing, kActive, kStopping, kDone };

  /// Of a tuning job: those of the jobs it goes on from, and its own.
  struct Trials {
    std::vector<TrialRecord> earlier;
    std::vector<TrialRecord> own;
  };

  /// A job that is not in the store yet: state QUEUED, times and etag set.
  static JobRun New(RunKey key, ml::Job job, Instant now, const RunRules& rules,
                    Trials trials = {});
  /// A job, or a trial, as the store holds it. One whose note cannot be read starts without
  /// replicas.
  static JobRun Restore(RunKey key, JobRecord record, const RunRules& rules, Trials trials = {});
  /// To a trial, before anything else: what its job has installed.
  void UsePrepared(Prepared prepared) { prepared_ = std::move(prepared); }

  /// The only door. Effects are to be carried out in their order.
  Effects Handle(Instant now, const Event& event);

  JobRecord Record() const;
  const RunKey& key() const { return key_; }
  const ml::Job& job() const { return job_; }
  const RunNote& note() const { return note_; }
  const ml::ClusterPlan& plan() const { return plan_; }
  Phase phase() const { return phase_; }
  bool IsTrial() const { return !key_.trial.empty(); }
  bool AnyWasLaunched() const;

 private:
  enum class Life { kOff, kLaunched, kUp };
  struct Replica {
    Life life = Life::kOff;
    bool was_up = false;      // in this attempt
    bool terminated = false;  // this boot was sent SIGTERM
    std::optional<VmLoss> lost;
  };
  /// A replica that ended: how, and in what words.
  struct Death {
    run::ExitClass how = run::ExitClass::kSuccess;
    ml::texts::ReplicaFailure failure;
    std::string start_error;
  };
  static constexpr run::ReplicaId kMaster{};

  JobRun(RunKey key, JobRecord record, RunNote note, const RunRules& rules, Trials trials);
  static RunNote NewNote(const RunKey& key, const ml::TrainingInput& input, const RunRules& rules);

  // job_run_queue.cc
  void On(const Submitted&);
  void On(const Recovered&);
  void On(const Granted& granted);
  void On(const Refused& refused);
  void WaitForTurn(bool resumed);
  void QueueIsOver();
  void StartMaxRunning();
  void LoseAllMachines();
  // job_run_prepare.cc
  void On(const Prepared& prepared);
  void BeginAttempt();
  void MachinesAreThere();
  run::Wait WaitForMachines() const;
  void LogFailedTries(int tries);
  void InstallPackages();
  void LogFirstWords(run::ReplicaId id);
  void LaunchAll();
  void Launch(run::ReplicaId id, bool fresh_disk);
  // job_run_replicas.cc
  void On(const ReplicaStarted& started);
  void On(const ReplicaExit& exit);
  void On(const VmLost& lost);
  void IfAllUp();
  void BecomeRunning();
  Death DeathOf(const ReplicaExit& exit) const;
  Death LossOf(run::ReplicaId id) const;
  std::string Words(const Death& death) const;
  void LogLastWords(const ReplicaExit& exit);
  run::Decision Judge(const Death& death);
  void EndedByItself(run::ReplicaId id);
  void Restart(const Death& death);
  run::Wait WaitForReplacement(run::ReplicaId id) const;
  void ReplacementIsThere(run::ReplicaId id);
  void Relaunch(run::ReplicaId id, bool fresh_disk);
  void RetryJob(const Death& death);
  // job_run_trials.cc
  void On(const Reported& reported);
  void On(const TrialMoved& moved);
  void On(const ValuesChosen& chosen);
  void On(const StopAsked&);
  void ActivateStudy();
  void ResumeTrials();
  void NextTrials();
  void BeginNewTrial(const std::string& trial);
  void TrialEnded(const TrialMoved& moved);
  std::string TrialsFailedText() const;
  void StopTrials();
  void LogTrial(const std::string& trial, std::string message, Severity severity = Severity::kInfo);
  // job_run_end.cc
  void On(const CancelAsked& asked);
  void On(const LabelsReplaced& replaced);
  void On(const TimerFired& fired);
  void End(run::JobEvent as, std::string message);
  void StopEverything();
  void Terminate(run::ReplicaId id);
  void IfAllStopped();
  void Finish();
  void LogOutcome();

  // job_run.cc
  void MoveTo(run::JobEvent event);
  void Save();
  void LogService(std::string message, Severity severity = Severity::kInfo);
  void LogLife(std::string message);
  void LogReplica(run::ReplicaId id, std::string message, Severity severity = Severity::kInfo);
  void Start(TimerKind kind, Instant at, run::ReplicaId replica = {}, int stamp = 0);
  bool IsThisBoot(const ReplicaKey& key) const;
  LaunchFacts FactsOf(run::ReplicaId id) const;
  void Do(Effect effect) { effects_.push_back(std::move(effect)); }
  Random RandomFor(std::string_view purpose) const;
  ReplicaKey KeyOf(run::ReplicaId id) const;
  bool MasterFinished() const;
  bool AllGone() const;

  const RunRules* rules_;
  RunKey key_;
  ml::Job job_;
  RunNote note_;
  ml::ClusterPlan plan_;
  Phase phase_ = Phase::kWaiting;
  std::map<run::ReplicaId, Replica> replicas_;
  std::map<run::ReplicaId, Environment> devices_;
  Prepared prepared_;
  std::optional<Study> study_;             // of a tuning job
  std::optional<ml::JobTexts> job_texts_;  // since it was granted

  bool installing_ = false;  // the packager is at work
  bool retrying_ = false;    // kStopping leads to the next attempt

  // Of the event being handled.
  Instant now_{};
  Effects effects_;
};

}  // namespace caip::engine
