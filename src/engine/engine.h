#pragma once
// The emulated service: takes jobs, runs them, remembers them. One thread owns all jobs; any thread
// may call.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/core.h"
#include "engine/mailbox.h"
#include "engine/observers.h"
#include "engine/options.h"
#include "engine/scheduler.h"

namespace caip::engine {

/// Between Start() and Stop() jobs move; before and after, reading works and the rest is
/// kUnavailable.
class Engine {
 public:
  Engine(EngineOptions options, EnginePorts ports, Clock& clock);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();  // as Stop()

  /// Continues the unfinished jobs of the store, then runs on a thread of its own. The error is the
  /// store's.
  Status Start();
  /// Kills all replicas, waits for their ends, and leaves the jobs in the store as they are: the
  /// next Start() treats them as having lost their machines. Cancel jobs first that must not
  /// continue.
  void Stop();

  /// Checks the document on the caller's thread. When it returns the job is durable.
  Result<run::Job> Submit(const std::string& project, const Json& document,
                          const run::JobPlace& place = {});
  /// Checks what Submit checks, except that the id is free. Writes only the probe objects.
  /// Packages in `arriving` are still to be uploaded, and not looked for.
  Result<NewJob> Check(const std::string& project, const Json& document,
                       const std::vector<std::string>& arriving = {},
                       const run::JobPlace& place = {});
  /// Does nothing, successfully, where the job has ended.
  Status Cancel(const std::string& project, const std::string& job_id);
  /// Replaces the document. `change` is called on the engine's thread and must not block.
  Result<run::Job> Update(const std::string& project, const std::string& job_id,
                          DocumentChange change);
  /// Removes a job that has ended. `before` is called before that, on the caller's thread, and may
  /// take long; its error keeps the job. kFailedPrecondition: it has not ended.
  Status Remove(const std::string& project, const std::string& job_id, RemovedId id,
                const std::function<Status()>& before);
  Result<run::Job> Get(const std::string& project, const std::string& job_id) const;
  /// The same in whatever project, for an API other than the first, whose ids are unique.
  Result<run::Job> FindInAnyProject(const std::string& job_id) const;
  /// The number of jobs that were ever created.
  Result<int64_t> CountCreated() const { return ports_.store.CountCreated(); }
  /// Newest first.
  Result<std::vector<run::Job>> List(const JobQuery& query) const;

  /// The trials of a tuning job, by number, with what they have reported; none of another job.
  /// kNotFound where there is no such job.
  Result<std::vector<TrialRecord>> Trials(const std::string& project,
                                          const std::string& job_id) const;

  /// Takes the machine of a live replica away.
  Status LoseVm(const RunKey& run, const run::ReplicaId& replica, VmLoss kind);

  /// Calls `observer` with each job that was saved, on the engine's thread, until the subscription
  /// ends; when its destructor has returned, no call is under way. It must not block.
  using Observer = Observers::Observer;
  [[nodiscard]] Subscription Watch(Observer observer);

  /// No job is unfinished.
  bool Idle() const;
  uint64_t seed() const { return options_.rules.seed; }

  // For simulations, which have no thread: instead of Start().

  /// Continues the unfinished jobs of the store.
  Status Recover();
  /// Handles all posted messages and all timers that are due. Engine's thread only.
  void Turn();
  Instant NextDeadline() const { return core_.NextDeadline(); }
  /// Events so far. Engine's thread only.
  uint64_t handled() const { return core_.handled(); }
  /// Like those without Later, but unchecked and answered during a Turn(). False: stopped, no
  /// answer.
  bool SubmitLater(NewJob job, std::function<void(Result<run::Job>)> answer);
  bool CancelLater(const std::string& project, const std::string& job_id,
                   std::function<void(Status)> answer);
  bool UpdateLater(const std::string& project, const std::string& job_id, DocumentChange change,
                   std::function<void(Result<run::Job>)> answer);
  bool LoseVmLater(const RunKey& run, const run::ReplicaId& replica, VmLoss kind,
                   std::function<void(Status)> answer);

 private:
  void Loop();
  template <typename T>
  Result<T> Ask(const std::function<bool(std::function<void(Result<T>)>)>& post);
  run::Job WithPosition(run::Job job) const;

  EngineOptions options_;
  EnginePorts ports_;
  Clock& clock_;
  std::shared_ptr<Mailbox> mailbox_;  // shared with callbacks that ports still hold
  Observers observers_;
  QueueBoard board_;
  Core core_;
  std::mutex removal_;
  std::thread thread_;
  std::atomic<bool> running_{false};
};

}  // namespace caip::engine
