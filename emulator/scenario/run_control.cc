// The faults that a run carries out for the injector (harness::RunControl).

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>

#include "emulator/scenario/errors.h"
#include "emulator/scenario/scenario_run.h"
#include "harness/files/lost_files.h"

namespace caip::scenario {
namespace {

constexpr auto kFreezePatience = std::chrono::seconds(5);

}  // namespace

Status ScenarioRun::LoseVm(const std::string& replica, engine::VmLoss kind) {
  const auto key = launcher_->LastBoot(replica);
  if (!key) return errors::NeverStarted(replica);
  const int known = launcher_->CountSignals(*key);
  RETURN_IF_ERROR(engine_->LoseVm(key->run, key->replica, kind));
  if (kind != engine::VmLoss::kMaintenance) return Ok{};
  launcher_->WaitForSignal(*key, known);
  AwaitDelivery(replica);
  return Ok{};
}

// Orders are obeyed one after the other. So the processes have their signals when they are frozen.
void ScenarioRun::AwaitDelivery(const std::string& replica) {
  const std::lock_guard lock(frozen_mutex_);
  FreezeAndWait(replica);
  const auto key = launcher_->LastBoot(replica);
  if (key && !frozen_.contains(replica)) freezable_->Thaw(*key);
}

// The files are changed when the replica starts again: then no process of it lives.
Status ScenarioRun::LosePower(const std::string& replica, harness::PowerLoss lost) {
  {
    const std::lock_guard lock(power_mutex_);
    power_lost_[replica] = lost;
  }
  return LoseVm(replica, engine::VmLoss::kKill);
}

void ScenarioRun::LoseUnsynced(const std::string& replica) {
  const std::lock_guard lock(power_mutex_);
  const auto lost = power_lost_.extract(replica);
  FileRecorder* recorder = Files();
  if (lost.empty() || !recorder) return;
  power_failure_ = recorder->outcome();
  if (!power_failure_.ok()) return;
  const auto log = recorder->log();
  harness::FileTree left = AfterPowerLoss(*log, log->changes().size(), lost.mapped());
  power_failure_ = WriteFiles(left);
  recorder->StartOver(std::move(left));
}

Status ScenarioRun::FailProgram(const std::string& replica, int status) {
  const auto key = launcher_->LastBoot(replica);
  if (!key) return errors::NeverStarted(replica);
  launcher_->Fail(*key, status);
  return Ok{};
}

// The longest that a fault asks for, unless the scenario says it.
Duration ScenarioRun::FailingRestart() const {
  if (scenario_.service_delays.failing_restart) return *scenario_.service_delays.failing_restart;
  Duration longest = options_.settings.options.failing_restart;
  if (!options_.disturbed) return longest;
  for (const harness::Fault& fault : scenario_.faults) {
    longest = std::max(longest, harness::RunsAgain(fault, scenario_.limits));
  }
  return longest;
}

void ScenarioRun::Signal(const std::string& replica, int signal) {
  const auto key = launcher_->LastBoot(replica);
  if (!key) return;
  launcher_->Signal(*key, signal);
  AwaitDelivery(replica);
}

void ScenarioRun::Freeze(const std::string& replica) {
  const std::lock_guard lock(frozen_mutex_);
  frozen_.insert(replica);
  FreezeAndWait(replica);
}

// Returns after the replica has stopped, because later faults rely on it.
void ScenarioRun::FreezeAndWait(const std::string& replica) {
  const auto key = launcher_->LastBoot(replica);
  if (!key) return;
  const auto frozen = std::make_shared<std::promise<void>>();
  freezable_->Freeze(*key, [frozen, is_set = std::make_shared<std::atomic<bool>>(false)] {
    if (!is_set->exchange(true)) frozen->set_value();
  });
  frozen->get_future().wait_for(kFreezePatience);
}

void ScenarioRun::Thaw(const std::string& replica) {
  const std::lock_guard lock(frozen_mutex_);
  frozen_.erase(replica);
  if (const auto key = launcher_->LastBoot(replica)) freezable_->Thaw(*key);
}

// The launcher reports the end after this, to the same mailbox of the engine.
void ScenarioRun::ReplaceEnded(const std::string& replica) {
  const auto key = launcher_->LastBoot(replica);
  if (!key) return;
  (void)engine_->LoseVmLater(key->run, key->replica, engine::VmLoss::kKill, [](const Status&) {});
}

Status ScenarioRun::CancelJob() { return engine_->Cancel(kProject, job_->id()); }

Status ScenarioRun::StepClock(const std::string& replica, Duration by) {
  return clocks_->Step(replica, by);
}

uint64_t ScenarioRun::BeginNetworkFault(const harness::NetworkFault& fault) {
  return networks_->Begin(fault);
}

void ScenarioRun::EndNetworkFault(uint64_t number) { networks_->End(number); }

}  // namespace caip::scenario
