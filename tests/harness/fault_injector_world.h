#pragma once
// What tests of the fault injector share: a clock that stands still, a run that records what it is
// asked, faults, and a fixture with the injector.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "harness/faults/fault_injector.h"
#include "tests/harness/run_of.h"

namespace caip::harness {

inline constexpr auto kDeadline = std::chrono::seconds(20);

/// Time that stands still, and who holds it.
class StillClock final : public Clock {
 public:
  Instant Now() const override { return Instant{} + std::chrono::seconds(1); }
  void WaitUntil(Instant) override {}
  void Interrupt() override {}
  void Hold() override { ++holders_; }
  void Release() override { --holders_; }
  int holders() const { return holders_; }

 private:
  std::atomic<int> holders_{0};
};

/// Records the calls. `on_lost` reports the end of a replica whose machine is lost.
class FakeRun final : public RunControl {
 public:
  Status LosePower(const std::string& replica, PowerLoss) override {
    return LoseVm(replica, engine::VmLoss::kKill);
  }
  std::function<void(const std::string&)> on_lost = [](const std::string&) {};
  std::function<void(const std::string&, int)> on_failed = [](const std::string&, int) {};
  std::function<void()> on_frozen = [] {};
  std::function<void()> on_thawed = [] {};

  Status LoseVm(const std::string& replica, engine::VmLoss) override {
    Add("lose " + replica);
    on_lost(replica);
    return Ok{};
  }
  Status FailProgram(const std::string& replica, int status) override {
    Add("fail " + replica + " with " + std::to_string(status));
    on_failed(replica, status);
    return Ok{};
  }
  void Signal(const std::string& replica, int signal) override {
    Add("signal " + std::to_string(signal) + " " + replica);
  }
  void Freeze(const std::string& replica) override {
    Add("freeze " + replica);
    on_frozen();
  }
  void Thaw(const std::string& replica) override {
    Add("thaw " + replica);
    on_thawed();
  }
  void ReplaceEnded(const std::string& replica) override { Add("replace " + replica); }
  Status CancelJob() override {
    Add("cancel");
    return Ok{};
  }
  Status StepClock(const std::string& replica, Duration) override {
    Add("step clock of " + replica);
    return Ok{};
  }

  uint64_t BeginNetworkFault(const NetworkFault& fault) override {
    EXPECT_EQ(Count("lose " + fault.replica), 0);
    Add("cut " + fault.replica + " off from " + fault.peer);
    return 7;
  }
  void EndNetworkFault(uint64_t number) override { Add("end fault " + std::to_string(number)); }

  int Count(const std::string& what) const {
    const std::lock_guard lock(mutex_);
    return static_cast<int>(std::count(asked_.begin(), asked_.end(), what));
  }
  /// Whether it was asked before the deadline.
  bool WasAsked(const std::string& what) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kDeadline, [&] {
      return std::find(asked_.begin(), asked_.end(), what) != asked_.end();
    });
  }

 private:
  void Add(const std::string& what) {
    {
      const std::lock_guard lock(mutex_);
      asked_.push_back(what);
    }
    changed_.notify_all();
  }
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> asked_;
};

inline Fault Kill(Trigger when, const std::string& replica = "master-0") {
  return KillFault("kill 1", replica, std::move(when));
}
inline Fault Hold(Trigger when, Trigger until) {
  Fault fault = HoldFault("hold 1", "master-0", std::move(when));
  fault.until = std::move(until);
  return fault;
}
inline Fault HangUntil(Trigger when, Trigger until) {
  Fault fault = HangFault("hang 1", "master-0", std::move(when));
  fault.until = std::move(until);
  return fault;
}

inline Trigger BeforeCreate(const std::string& glob) {
  return {.kind = StorageTrigger{Phase::kBefore, "create", glob}};
}

inline Trigger AtStep(int64_t step, const std::string& replica = "") {
  return {.kind = StepTrigger{step}, .replica = replica};
}

/// An injector with the faults of the test (Direct).
class FaultInjectorTest : public ::testing::Test {
 protected:
  void Direct(std::vector<Fault> faults, uint64_t seed = 1) {
    injector_ = std::make_unique<FaultInjector>(
        FaultInjectorOptions{.faults = std::move(faults), .seed = seed, .vm_lifetime = {}}, clock_);
    injector_->Attach(world_);
  }
  void TearDown() override {
    if (injector_) injector_->End();
  }
  void Boot(const std::string& replica, int boot) {
    injector_->Report(Start(replica, boot));
    injector_->Report(Live(replica, boot));
  }
  void Running(const std::vector<std::string>& replicas = {"master-0"}) {
    for (const std::string& replica : replicas) Boot(replica, 1);
    injector_->Report(State("RUNNING"));
  }
  std::future<FaultResponse> InBackground(Event event, Phase phase) {
    return std::async(std::launch::async, [this, event = std::move(event), phase] {
      return injector_->ReportAndWait(event, phase);
    });
  }
  std::vector<std::string> Reported() const {
    std::vector<std::string> reported;
    for (const Event& h : injector_->events()) reported.push_back(Describe(h));
    return reported;
  }

  StillClock clock_;
  FakeRun world_;
  std::unique_ptr<FaultInjector> injector_;
};

}  // namespace caip::harness
