#pragma once
// What the engine's thread owns: all runs, their timers, the queue. Events go to runs, and their
// effects to the ports. Nothing here knows of threads.
//
// core.cc: requests and turns; core_effects.cc: effects -> ports; recovery.cc: the start.

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/job_run.h"
#include "engine/mailbox.h"
#include "engine/observers.h"
#include "engine/options.h"
#include "engine/scheduler.h"
#include "engine/timers.h"

namespace caip::engine {

/// A document that an API has accepted, and what the launcher runs for the images it names.
struct NewJob {
  run::AcceptedJob accepted;
  ImageAnswers images = {};
};

/// Makes the next document of a job out of the present one, or says why not.
using DocumentChange = std::function<Result<run::Document>(const run::Job&)>;

/// Engine thread only, but for unfinished().
class Core {
 public:
  Core(const EngineOptions& options, EnginePorts ports, Clock& clock,
       std::shared_ptr<Mailbox> mailbox, Observers& observers, QueueBoard& board);

  /// Continues the unfinished jobs of the store.
  Status Recover();

  /// `job` has passed every check except that its id is free.
  Result<run::Job> Create(NewJob job);
  Status Cancel(const RunKey& key);
  Result<run::Job> Update(const RunKey& key, const DocumentChange& change);
  /// kFailedPrecondition: the job has not ended. A job that has ended stays so.
  Status CheckRemovable(const RunKey& key) const;
  Status Remove(const RunKey& key, RemovedId id);
  Status LoseVm(const RunKey& key, const run::ReplicaId& replica, VmLoss kind);

  /// An event from a port.
  void Deliver(const RunEvent& message);
  /// All timers that are due, then all runs that may start.
  void Turn();
  Instant NextDeadline() const;

  /// Kills every replica. From now on no job changes.
  void BeginStop();
  bool stopping() const { return stopping_; }
  bool AnythingLives() const { return !live_.empty(); }

  size_t unfinished() const { return unfinished_; }
  /// The number of events that runs have handled.
  uint64_t handled() const { return handled_; }

 private:
  struct Entry {
    Entry(JobRun r, uint64_t a) : run(std::move(r)), age(a) {}
    JobRun run;
    uint64_t age;
    // to be carried out; not empty only while a save fails, the log is stored, or the job of the
    // trial has its reports to save
    std::deque<Effect> pending;
    uint64_t log_wait = 0;  // the wait for the log that holds `pending`; 0: none
    bool log_stored = false;
    std::optional<Error> save_error;
    bool granted = false;
    bool forgotten = false;
  };

  Entry& Add(JobRun run, uint64_t age);
  Result<std::shared_ptr<const run::ApiJob>> OpenJob(const JobRecord& record) const;
  Status RecoverClock(const std::vector<JobRecord>& unfinished);
  Result<JobRun::Trials> TrialsOf(const RunKey& key, const run::RunSpec& spec) const;
  Entry* Find(const RunKey& key);
  RunKey Located(const RunKey& key) const;
  run::Job WithPosition(run::Job job) const;
  void Handle(const RunKey& key, const Event& event);
  void CarryOut(Entry& entry);
  void CarryOutTrialsOf(const RunKey& job);
  Status SavedOrWhyNot(Entry& entry);
  void LogStored(const RunKey& run, uint64_t wait);
  Status AwaitLog(Entry& entry);

  void StartRuns();
  bool TryToStart(Entry& entry);
  void Start(Entry& entry, Granted granted, const std::string& refusal);

  // core_effects.cc. False: the effect and those after it must wait.
  bool Do(Entry& entry, const Effect& effect);
  bool Apply(Entry& entry, const SaveJob& save);
  bool Apply(Entry& entry, const SaveReports& save);
  bool AwaitsReports(const RunKey& trial);
  bool Saved(Entry& entry, const Status& status);
  void Apply(Entry& entry, const WriteLog& write);
  bool Apply(Entry& entry, const FlushLog&);
  void Apply(Entry& entry, const Enqueue& enqueue);
  void Apply(Entry& entry, const BecomeReady&);
  void Apply(Entry& entry, const LeaveQueue&);
  void Apply(Entry& entry, const PreparePackages& prepare);
  void Apply(Entry& entry, const AbandonPackages&);
  void Apply(Entry& entry, const LaunchReplica& launch);
  void Apply(Entry& entry, const SignalReplica& signal);
  void Apply(Entry& entry, const KillReplica& kill);
  void Apply(Entry& entry, const StartTimer& start);
  void Apply(Entry& entry, const StopTimer& stop);
  void Apply(Entry& entry, const ChooseValues& choose);
  void Apply(Entry& entry, const BeginTrial& begin);
  void Apply(Entry& entry, const TellTrial& tell);
  void Apply(Entry& entry, const ReturnResources&);
  void Apply(Entry& entry, const Forget&);
  void WriteLines();
  void EndInstallation(const RunKey& run);
  void EndChoice(const RunKey& run);

  const EngineOptions& options_;
  EnginePorts ports_;
  Clock& clock_;
  std::shared_ptr<Mailbox> mailbox_;
  Observers& observers_;
  QueueBoard& board_;

  std::map<RunKey, Entry> runs_;
  uint64_t created_ = 0;
  Scheduler scheduler_;
  Timers timers_;
  int active_ = 0;                     // jobs that were granted and have not returned
  int clusters_ = 0;                   // runs with addresses lent to them
  std::set<ReplicaKey> live_;          // launched, and not ended; each holds the clock
  std::set<RunKey> installing_;        // each holds the clock
  std::set<RunKey> choosing_;          // likewise: values for their trials
  std::set<RunKey> awaiting_reports_;  // likewise: trials whose job has their reports to save
  std::vector<LogLine> lines_;         // to be written before the next effect of another kind
  uint64_t log_waits_ = 0;             // waits for the log so far; each holds the clock
  bool stopping_ = false;
  uint64_t handled_ = 0;
  std::atomic<size_t> unfinished_{0};
};

}  // namespace caip::engine
