#pragma once
// One job from QUEUED to its end: event in, decision, effects out. No I/O, no clock, no threads.
//
//   kWaiting --Granted--> kPreparing --Prepared--> kActive --outcome--> kStopping --> kDone
//                              ^                                            |
//                              '------------- the whole job again ---------'
//
// A trial of a tuning job is such a run as well, without its own queue delay, installation and
// deadlines; the tuning job itself is a run that has trials instead of replicas.
//
// Its chapters: job_run_queue.cc, job_run_prepare.cc, job_run_replicas.cc, job_run_trials.cc,
// job_run_end.cc.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/events.h"
#include "engine/run_note.h"
#include "engine/run_rules.h"
#include "engine/study.h"
#include "run/replica_outcome.h"

namespace caip::engine {

/// Owned by the engine's thread. `rules` outlives it.
class JobRun {
 public:
  enum class Phase { kWaiting, kPreparing, kActive, kStopping, kDone };

  /// Of a tuning job: the trials of the jobs that it continues, and its own.
  struct Trials {
    std::vector<TrialRecord> earlier;
    std::vector<TrialRecord> own;
  };

  /// A job that is not in the store yet. `images` are the launcher's answers.
  static JobRun New(run::AcceptedJob accepted, ImageAnswers images, Instant now,
                    const RunRules& rules, Trials trials = {});
  /// A job, or a trial, as the store holds it. One whose note cannot be read starts without
  /// replicas, and with `images`, the launcher's present answers.
  static JobRun Restore(JobRecord record, std::shared_ptr<const run::ApiJob> api,
                        ImageAnswers images, const RunRules& rules, Trials trials = {});
  /// Gives a trial the packages that its job has installed. Call it before any event.
  void UsePrepared(Prepared prepared) { prepared_ = std::move(prepared); }

  /// The only way to change a run. Effects must be carried out in their order.
  Effects Handle(Instant now, const Event& event);

  JobRecord Record() const;
  const RunKey& key() const { return job_.key; }
  const run::Job& job() const { return job_; }
  const RunNote& note() const { return note_; }
  const std::vector<run::PlannedReplica>& plan() const { return plan_; }
  Phase phase() const { return phase_; }
  bool IsTrial() const { return key().IsTrial(); }
  const run::ApiJob& api() const { return *api_; }
  std::shared_ptr<const run::ApiJob> shared_api() const { return api_; }
  bool AnyWasLaunched() const;

 private:
  enum class Life { kOff, kLaunched, kUp };
  struct Replica {
    Life life = Life::kOff;
    bool was_up = false;      // in this attempt
    bool terminated = false;  // this boot was sent SIGTERM
    std::optional<VmLoss> lost;
  };
  /// How a replica ended.
  struct Death {
    run::ExitClass how = run::ExitClass::kSuccess;
    run::ReplicaFailure failure;
    std::string start_error;
  };

  JobRun(JobRecord record, RunNote note, std::shared_ptr<const run::ApiJob> api,
         const RunRules& rules, Trials trials);
  static RunNote NewNote(const run::Job& job, const run::RunSpec& spec, const RunRules& rules);

  // job_run_queue.cc
  void On(const Submitted&);
  void On(const Recovered&);
  void On(const Granted& granted);
  void On(const Refused& refused);
  void WaitForTurn(bool resumed);
  void QueueIsOver();
  void StartMaxRunning();
  std::vector<run::PlannedReplica> PlanForReplicas() const;
  void LoseAllMachines();
  bool AnyWasCutShort() const;
  // job_run_prepare.cc
  void On(const Prepared& prepared);
  void BeginAttempt();
  void MachinesAreThere();
  run::Wait WaitForMachines() const;
  void LogFailedTries(int tries);
  std::map<std::string, std::string> ImagesToPrepare() const;
  void PrepareReplicas();
  std::vector<std::string> AddressesToStart() const;
  bool RunsPackages(const run::ReplicaId& id) const;
  run::ReplicaId FirstWithPackages() const;
  void LogBeforePackages(const run::ReplicaId& id);
  void LaunchAll();
  void Launch(const run::ReplicaId& id, bool fresh_disk);
  // job_run_replicas.cc
  void On(const ReplicaStarted& started);
  void On(const ReplicaExit& exit);
  void On(const VmLost& lost);
  void IfAllUp();
  void BecomeRunning();
  Death DeathOf(const ReplicaExit& exit) const;
  Death LossOf(const run::ReplicaId& id) const;
  Death CauseOf(const Death& death) const;
  std::string DescribeDeath(const Death& death) const;
  void FailBecauseOf(const Death& death);
  bool StartsOnceMore(const Death& death) const;
  void StartOnceMore(const Death& death);
  void FailAtLast();
  void LogEnd(const ReplicaExit& exit, const Death& death);
  run::Decision Decide(const Death& death);
  void EndedByItself(const run::ReplicaId& id);
  void Restart(const Death& death);
  run::Wait WaitForReplacement(const run::ReplicaId& id) const;
  void ReplacementIsThere(const run::ReplicaId& id);
  void Relaunch(const run::ReplicaId& id, bool fresh_disk);
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
  void On(const DocumentReplaced& replaced);
  void On(const TimerFired& fired);
  void End(run::JobEvent as, std::string message, run::EndCause cause = run::EndCause::kNone);
  void WaitedTooLong();
  void StopEverything();
  void Terminate(const run::ReplicaId& id);
  void IfAllStopped();
  void Finish();
  void LogOutcome();

  // job_run.cc
  void MoveTo(run::JobEvent event);
  void Save();
  void StoreLog();
  void LogService(std::string message, Severity severity = Severity::kInfo);
  void LogJobEvent(run::LoggedJobEvent event, Severity severity = Severity::kInfo);
  void LogReplica(const run::ReplicaId& id, std::string message,
                  Severity severity = Severity::kInfo);
  void LogReplicaEvent(const run::ReplicaFailure& failure, run::LoggedReplicaEvent event,
                       Severity severity = Severity::kInfo);
  void Start(TimerKind kind, Instant at, const run::ReplicaId& replica = {}, int stamp = 0);
  bool IsThisBoot(const ReplicaKey& key) const;
  LaunchFacts FactsOf(const run::ReplicaId& id) const;
  void Do(Effect effect) { effects_.push_back(std::move(effect)); }
  Random RandomFor(std::string_view purpose) const;
  ReplicaKey KeyOf(const run::ReplicaId& id) const;
  bool LeadFinished() const;
  bool RunsContainer(const run::ReplicaId& id) const;
  bool AllGone() const;

  const RunRules* rules_;
  run::Job job_;
  RunNote note_;
  std::shared_ptr<const run::ApiJob> api_;
  std::unique_ptr<const run::ApiRun> api_run_;  // since it was granted
  run::ReplicaId lead_;
  std::vector<run::PlannedReplica> plan_;  // empty for a tuning job: its trials have replicas
  Phase phase_ = Phase::kWaiting;
  run::ByReplica<Replica> replicas_;
  std::map<run::ReplicaId, LentDevices> devices_;
  Prepared prepared_;
  std::optional<Study> study_;  // of a tuning job

  bool installing_ = false;  // the packager is at work
  bool retrying_ = false;    // kStopping leads to the next attempt

  // Of the event being handled.
  Instant now_{};
  Effects effects_;
};

}  // namespace caip::engine
