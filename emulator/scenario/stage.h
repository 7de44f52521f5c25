#pragma once
// One emulator for one run of a scenario: made, tormented, looked at, and gone.

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "client/submit_flags.h"
#include "emulator/app/emulator.h"
#include "emulator/app/interference.h"
#include "emulator/scenario/fake_clocks.h"
#include "emulator/scenario/launch_watch.h"
#include "emulator/scenario/onlooker.h"
#include "emulator/scenario/recorder.h"
#include "emulator/scenario/system_watch.h"
#include "harness/faults/fault_injector.h"
#include "harness/faults/run_control.h"
#include "harness/scenario/scenario.h"

namespace caip::scenario {

/// How a scenario is to be run.
struct StageOptions {
  Path caches = {};       // Python environments and packages that runs share; "" none
  Path state;             // an empty directory of its own
  bool disturbed = true;  // false: the twin, without faults
  uint64_t seed = 1;
  /// Told of each line of the event list as it is written.
  std::function<void(const harness::Event&)> watcher;
  Recorder* recorder = nullptr;                  // keeps what is written
  const BucketState* begin = nullptr;            // buckets as they are, over those of the scenario
  std::function<bool()> interrupted = nullptr;   // set: the run ends
  std::function<bool()> overfull = nullptr;      // the place of `state` has too little room left
  client::ReadSubmitWords read_words = nullptr;  // of scenarios with `submit` words
  Dresser dress = nullptr;
  Onlooker* onlooker = nullptr;
};

/// One run. Made and used by one thread.
class Stage final : public app::Interference, public harness::RunControl {
 public:
  Stage(const harness::Scenario& scenario, StageOptions options);
  ~Stage() override;

  /// An Error is ours, the host's (kResourceExhausted: its disk is full) or the scenario's (its job
  /// was not taken), not the trainer's.
  Result<harness::Evidence> Run();

  // app::Interference
  std::unique_ptr<gcs::BucketStore> Around(gcs::BucketStore& store) override;
  std::unique_ptr<engine::LogSink> Around(engine::LogSink& sink) override;
  std::unique_ptr<engine::LogSink> AroundService(engine::LogSink& sink) override;
  Status Around(host::LauncherBundle& replicas) override;
  http::Handler Around(http::Handler apis) override;
  void Begin(engine::Engine& engine, Clock& clock) override;
  void End() override;
  Instant Next() const override { return injector_->NextTime(); }
  void Ring(Instant now) override { injector_->AdvanceTo(now); }

  // harness::RunControl
  Status LoseVm(const std::string& replica, engine::VmLoss kind) override;
  void Freeze(const std::string& replica) override;
  void Thaw(const std::string& replica) override;
  Status CancelJob() override;
  Status StepClock(const std::string& replica, Duration by) override;

 private:
  app::EmulatorOptions Options() const;
  Path Buckets() const;
  bool NeedsClocks() const;
  Status ShareCaches() const;
  Status FillBuckets();
  Result<harness::Evidence> RunJob();
  std::string Follow();
  std::string LimitMet(std::chrono::steady_clock::time_point begin,
                       std::chrono::steady_clock::time_point progress) const;
  bool DiskWasFull() const;
  bool LacksRoom() const;
  void Abandon();
  Status Collect(std::map<std::string, harness::FinalObject>& objects);
  Status CollectTrials(const ml::Job& job, harness::Evidence& evidence);

  const harness::Scenario& scenario_;
  StageOptions options_;
  // The injector's clock and the emulator's are one: it is handed over in Begin.
  struct RunClock;
  std::unique_ptr<RunClock> clock_;
  std::unique_ptr<harness::FaultInjector> injector_;
  std::atomic<int64_t> lines_{0};
  std::atomic<bool> disk_was_full_{false};  // when storage wanted to write
  std::unique_ptr<SystemWatch> calls_;
  std::unique_ptr<FakeClocks> clocks_;  // where a fault steps one
  WatchedLauncher* launcher_ = nullptr;
  host::Freezable* freezable_ = nullptr;  // the launcher's
  engine::Engine* engine_ = nullptr;
  engine::Subscription states_;
  std::unique_ptr<app::Emulator> emulator_;
};

}  // namespace caip::scenario
