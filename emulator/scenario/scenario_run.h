#pragma once
// One run of a scenario: starts an emulator, injects the faults and collects the evidence.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "emulator/app/emulator.h"
#include "emulator/app/emulator_hooks.h"
#include "emulator/scenario/contents/bucket_recorder.h"
#include "emulator/scenario/contents/file_recorder.h"
#include "emulator/scenario/contents/run_volumes.h"
#include "emulator/scenario/fake_clocks.h"
#include "emulator/scenario/network_faults.h"
#include "emulator/scenario/ready_job.h"
#include "emulator/scenario/run_limits.h"
#include "emulator/scenario/run_observer.h"
#include "emulator/scenario/run_settings.h"
#include "emulator/scenario/watch/launch_watch.h"
#include "emulator/scenario/watch/request_watch.h"
#include "emulator/scenario/watch/system_watch.h"
#include "harness/faults/fault.h"
#include "harness/faults/fault_injector.h"
#include "harness/scenario/scenario.h"

namespace caip::scenario {

/// How to run a scenario.
struct RunOptions {
  Path caches = {};       // Python environments and packages that runs share; "" none
  Path state = {};        // an empty directory for this run
  Path volumes = {};      // copies of the volumes to begin with (RunVolumes); "": the host's
  bool disturbed = true;  // false: without faults
  uint64_t seed = 1;
  /// Called with each line of the event list.
  std::function<void(const harness::Event&)> watcher = nullptr;
  bool once_more = false;              // sends a job that has failed again: Evidence::once_more
  bool watch_disks = false;            // reports changes of replicas' disks (DiskEvent)
  BucketRecorder* recorder = nullptr;  // records the changes of the buckets
  const BucketState* begin = nullptr;  // the first state of the buckets; null: the scenario's
  /// Records the changes of files. It and `begin_files` need `blocks`, which they use.
  FileRecorder* files = nullptr;
  std::shared_ptr<const harness::FileTree> begin_files = nullptr;  // null: as `volumes` has them
  std::shared_ptr<harness::BlockStore> blocks = nullptr;
  std::function<bool()> interrupted = nullptr;  // true ends the run
  std::function<bool()> overfull = nullptr;     // true: `state` has too little space left
  ReadJobWords read_words = nullptr;            // for scenarios with words
  RunSettings settings = {};                    // of the emulator
  LaunchEditor alter_launch = nullptr;
  RunObserver* observer = nullptr;
};

/// One run. Made and used by one thread.
class ScenarioRun final : public app::EmulatorHooks, public harness::RunControl {
 public:
  ScenarioRun(const harness::Scenario& scenario, RunOptions options);
  ~ScenarioRun() override;

  /// An Error is about caip, the host (kResourceExhausted: its disk is full) or the scenario (its
  /// job was rejected), never about the trainer.
  Result<harness::Evidence> Run();
  /// Whether Run failed because the replicas are processes of this host, and one of them, a replica
  /// of another run, or another program listened on port 2222 of all addresses. A run with
  /// `own_ports` shows what the trainer does.
  bool lacked_task_port() const { return lacked_task_port_; }

  // app::EmulatorHooks
  std::unique_ptr<gcs::BucketStore> WrapStore(gcs::BucketStore& store) override;
  std::unique_ptr<engine::LogSink> WrapOutput(engine::LogSink& sink) override;
  std::unique_ptr<engine::LogSink> WrapServiceLog(engine::LogSink& sink) override;
  Status WrapLaunchers(host::LauncherBundle& replicas) override;
  http::Handler WrapHandler(http::Handler apis) override;
  void Begin(engine::Engine& engine, Clock& clock) override;
  void End() override;
  Instant Next() const override { return injector_->NextTime(); }
  void Ring(Instant now) override { injector_->AdvanceTo(now); }

  // harness::RunControl
  Status LoseVm(const std::string& replica, engine::VmLoss kind) override;
  Status LosePower(const std::string& replica, harness::PowerLoss lost) override;
  Status FailProgram(const std::string& replica, int status) override;
  void Signal(const std::string& replica, int signal) override;
  void Freeze(const std::string& replica) override;
  void Thaw(const std::string& replica) override;
  void ReplaceEnded(const std::string& replica) override;
  Status CancelJob() override;
  Status StepClock(const std::string& replica, Duration by) override;
  uint64_t BeginNetworkFault(const harness::NetworkFault& fault) override;
  void EndNetworkFault(uint64_t number) override;

 private:
  app::EmulatorOptions Options() const;
  bool LendsTaskPorts() const;
  Duration FailingRestart() const;
  Path Below(const char* name) const;
  bool WatchesDisks() const;
  /// Whether replicas write to paths of the host: on machines, or as the command of a user.
  bool SeesHost() const { return on_machines_ || !scenario_.working_directory.empty(); }
  std::string DiskOf(const engine::ReplicaKey& key) const;
  bool Needs(harness::HostAbility ability) const;
  Status ShareCaches() const;
  LaunchEditor AlterationOf();
  Status FillBuckets();
  std::set<std::string> BucketDirectories() const;
  Status RestoreFiles();
  Status WriteFiles(const harness::FileTree& files);
  Status RecordForPowerLoss();
  /// Null if the changes of files are not recorded.
  FileRecorder* Files() const { return options_.files ? options_.files : own_files_.get(); }
  void LoseUnsynced(const std::string& replica);
  void AwaitDelivery(const std::string& replica);
  void FreezeAndWait(const std::string& replica);
  std::set<std::string> FilesWrittenBefore() const;
  Result<harness::Evidence> RunJob();
  std::string Follow();
  std::string LimitMet(const RunLimits& limits) const;
  bool DiskWasFull() const;
  bool LacksRoom() const;
  void ShowSources(harness::Evidence& evidence) const;
  Status CheckNetwork() const;
  void Abandon();
  Status Collect(std::map<std::string, harness::FinalObject>& objects);
  Status CollectTrials(const run::Job& job, harness::Evidence& evidence);

  const harness::Scenario& scenario_;
  RunOptions options_;
  // Follows the clock of the emulator, which Begin sets.
  struct RunClock;
  std::unique_ptr<RunClock> clock_;
  std::unique_ptr<const ReadyJob> job_;
  std::unique_ptr<harness::FaultInjector> injector_;
  std::atomic<int64_t> lines_{0};
  bool on_machines_ = false;  // the replicas
  // Whether port 2222 of all addresses was taken when a replica failed that has no peers, or peers.
  std::atomic<bool> port_taken_{false};
  std::atomic<bool> port_shared_{false};
  bool lacked_task_port_ = false;
  std::mutex refusal_mutex_;
  std::string refusal_;  // why the host could not start a replica; guarded by refusal_mutex_
  std::atomic<bool> disk_was_full_{false};  // set by a failed write to storage
  MachineCallers callers_;
  std::unique_ptr<RunVolumes> volumes_;
  std::unique_ptr<SystemWatch> calls_;
  std::unique_ptr<FileRecorder> own_files_;  // if a fault needs it, and options_.files is null
  std::mutex power_mutex_;
  std::map<std::string, harness::PowerLoss> power_lost_;  // by replica; applied when it starts
  Status power_failure_ = Ok{};
  std::mutex frozen_mutex_;
  std::set<std::string> frozen_;             // replicas that faults have stopped
  std::unique_ptr<FakeClocks> clocks_;       // null unless a fault steps a clock
  std::unique_ptr<NetworkFaults> networks_;  // null unless a fault concerns the network
  WatchedLauncher* launcher_ = nullptr;
  host::Freezable* freezable_ = nullptr;  // part of the launcher
  engine::LocalDisks* disks_ = nullptr;   // part of the launcher; null unless disks are watched
  engine::Engine* engine_ = nullptr;
  engine::Subscription states_;
  std::unique_ptr<app::Emulator> emulator_;
};

}  // namespace caip::scenario
