#include "harness/faults/fault_injector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <future>

#include "harness/faults/hold_circle.h"
#include "harness/scenario/job_kind.h"
#include "tests/harness/run_of.h"

namespace caip::harness {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto kDeadline = seconds(20);

/// Time that stands still, and who holds it.
class StillClock final : public Clock {
 public:
  Instant Now() const override { return Instant{} + seconds(1); }
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

Fault Kill(Trigger when, const std::string& replica = "master-0") {
  return KillFault("kill 1", replica, std::move(when));
}
Fault Hold(Trigger when, Trigger until) {
  Fault fault = HoldFault("hold 1", "master-0", std::move(when));
  fault.until = std::move(until);
  return fault;
}
Fault HangUntil(Trigger when, Trigger until) {
  Fault fault = HangFault("hang 1", "master-0", std::move(when));
  fault.until = std::move(until);
  return fault;
}

Trigger BeforeCreate(const std::string& glob) {
  return {.kind = StorageTrigger{Phase::kBefore, "create", glob}};
}

Trigger AtStep(int64_t step, const std::string& replica = "") {
  return {.kind = StepTrigger{step}, .replica = replica};
}

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

TEST_F(FaultInjectorTest, WritesTheListInItsOrder) {
  Direct({});
  Running();
  EXPECT_EQ(
      injector_->ReportAndWait(Storage("master-0", 1, "create", "job/a"), Phase::kBefore).kind,
      FaultResponse::Kind::kGoOn);
  injector_->ReportAndWait(Storage("master-0", 1, "create", "job/a"), Phase::kAfter);
  const std::vector<Event> list = injector_->events();
  ASSERT_EQ(list.size(), 4u);
  for (size_t i = 0; i < list.size(); ++i) EXPECT_EQ(list[i].number, static_cast<int64_t>(i) + 1);
  EXPECT_EQ(list[3].As<StorageEvent>()->op, "create");
  EXPECT_EQ(injector_->Since(3).size(), 1u);
  EXPECT_TRUE(injector_->Since(99).empty());
}

TEST_F(FaultInjectorTest, KeepsTheThreadThatMetAKillUntilTheReplicaHasEnded) {
  Direct({Kill(BeforeCreate("*/b"))});
  Running();
  auto met = InBackground(Storage("master-0", 0, "create", "job/b"), Phase::kBefore);
  ASSERT_TRUE(world_.WasAsked("lose master-0"));
  EXPECT_EQ(met.wait_for(milliseconds(30)), std::future_status::timeout);
  injector_->Report(Exit("master-0", 1, 0, 9));
  ASSERT_EQ(met.wait_for(kDeadline), std::future_status::ready);
  EXPECT_EQ(met.get().kind, FaultResponse::Kind::kGone);
  EXPECT_EQ(Reported().back(), "end of boot 1 of master-0");
  ASSERT_EQ(injector_->tallies().size(), 1u);
  EXPECT_EQ(injector_->tallies()[0].injected_at, std::vector<int64_t>{4});
}

TEST_F(FaultInjectorTest, RefusesOperationsOfADeadReplica) {
  Direct({});
  Running();
  injector_->Report(Exit("master-0", 1));
  const FaultResponse verdict =
      injector_->ReportAndWait(Storage("master-0", 1, "create", "job/a"), Phase::kAfter);
  EXPECT_EQ(verdict.kind, FaultResponse::Kind::kGone);
  EXPECT_EQ(Reported().back(), "end of boot 1 of master-0");
}

TEST_F(FaultInjectorTest, DelaysAReplicaUntilItIsUpAndTheJobRuns) {
  Direct({});
  injector_->Report(Start("master-0", 1));
  auto met = InBackground(Storage("master-0", 0, "list", "job/"), Phase::kAfter);
  injector_->Report(Live("master-0", 1));
  EXPECT_EQ(met.wait_for(milliseconds(30)), std::future_status::timeout);
  injector_->Report(State("RUNNING"));
  ASSERT_EQ(met.wait_for(kDeadline), std::future_status::ready);
  EXPECT_EQ(Reported().back(), "list job/ by master-0");
}

TEST_F(FaultInjectorTest, EntersLinesNoSoonerThanTheirBootIsUp) {
  Direct({});
  injector_->Report(State("RUNNING"));
  injector_->Report(Start("master-0", 1));
  injector_->Report(Line("master-0", 0, "early"));
  EXPECT_EQ(injector_->events().size(), 2u);
  injector_->Report(Live("master-0", 1));
  const std::vector<Event> list = injector_->events();
  ASSERT_EQ(list.size(), 4u);
  EXPECT_EQ(list[3].As<LogEvent>()->message, "early");
  EXPECT_EQ(list[3].boot, 1);
}

TEST_F(FaultInjectorTest, EntersLinesOfABootThatWasNeverUpBeforeItsEnd) {
  Direct({});
  injector_->Report(State("RUNNING"));
  injector_->Report(Start("master-0", 1));
  injector_->Report(Line("master-0", 0, "last words"));
  injector_->Report(Exit("master-0", 1, 1));
  const std::vector<std::string> reported = Reported();
  ASSERT_EQ(reported.size(), 4u);
  EXPECT_EQ(reported[2], "log line 'last words' of master-0");
  EXPECT_EQ(reported[3], "end of boot 1 of master-0");
}

TEST_F(FaultInjectorTest, HoldsAReplicaUntilAnotherDidSomething) {
  Direct({Hold(BeforeCreate("*"), AtStep(5, "worker-0"))});
  Running({"master-0", "worker-0"});
  auto met = InBackground(Storage("master-0", 0, "create", "job/a"), Phase::kBefore);
  EXPECT_EQ(met.wait_for(milliseconds(30)), std::future_status::timeout);
  injector_->Report(Step("worker-0", 0, 4));
  EXPECT_EQ(met.wait_for(milliseconds(30)), std::future_status::timeout);
  injector_->Report(Step("worker-0", 0, 5));
  ASSERT_EQ(met.wait_for(kDeadline), std::future_status::ready);
  EXPECT_EQ(met.get().kind, FaultResponse::Kind::kGoOn);
  EXPECT_TRUE(injector_->tallies()[0].until_came);
}

TEST_F(FaultInjectorTest, DoesNotHoldAfterUntilHasCome) {
  Direct({Hold(BeforeCreate("*"), AtStep(5, "worker-0"))});
  Running({"master-0", "worker-0"});
  injector_->Report(Step("worker-0", 0, 5));
  auto met = InBackground(Storage("master-0", 0, "create", "job/a"), Phase::kBefore);
  ASSERT_EQ(met.wait_for(kDeadline), std::future_status::ready);
  EXPECT_EQ(injector_->tallies()[0].injected_at.size(), 1u);
  EXPECT_TRUE(injector_->tallies()[0].until_came);
}

TEST_F(FaultInjectorTest, MachinesAgeByTheStepsOfTheTrainer) {
  FaultInjectorOptions options;
  options.vm_lifetime = MachineLifetime{MachineLifetime::Kind::kConstant, std::chrono::minutes(3)};
  options.step_time = std::chrono::minutes(1);
  injector_ = std::make_unique<FaultInjector>(std::move(options), clock_);
  injector_->Attach(world_);
  world_.on_lost = [this](const std::string& replica) {
    injector_->Report(Exit(replica, 1, 0, 9));
  };
  Running({"master-0"});
  EXPECT_EQ(injector_->NextTime(), kNever) << "emulated time has no part in it";
  for (int64_t step = 1; step <= 2; ++step) injector_->Report(Step("master-0", 0, step));
  EXPECT_EQ(world_.Count("lose master-0"), 0);
  injector_->Report(Step("master-0", 0, 3));
  EXPECT_TRUE(world_.WasAsked("lose master-0"));
  const std::vector<Event> events = injector_->events();
  EXPECT_EQ(std::ranges::count_if(events,
                                  [](const Event& event) {
                                    const auto* fault = event.As<FaultEvent>();
                                    return fault && fault->fault == kLifetimeOver;
                                  }),
            1);
}

// The losses of a cluster that reports the steps in this order, with lives of three steps on
// average.
std::vector<std::string> LossesOf(const std::vector<std::string>& order, Clock& clock) {
  FaultInjectorOptions options;
  options.vm_lifetime =
      MachineLifetime{MachineLifetime::Kind::kExponential, std::chrono::minutes(3)};
  options.step_time = std::chrono::minutes(1);
  FakeRun run;
  FaultInjector injector(std::move(options), clock);
  injector.Attach(run);
  run.on_lost = [&](const std::string& replica) { injector.Report(Exit(replica, 1, 0, 9)); };
  injector.Report(State("RUNNING"));
  for (const std::string& replica : order) {
    injector.Report(Start(replica, 1));
    injector.Report(Live(replica, 1));
  }
  for (int64_t step = 1; step <= 30; ++step) {
    for (const std::string& replica : order) injector.Report(Step(replica, 1, step));
  }
  injector.End();
  injector.Drain();
  int64_t steps = 0;  // of the first replica
  std::vector<std::string> losses;
  for (const Event& event : injector.events()) {
    if (event.Is<StepEvent>() && IsFirstReplica(event.replica)) ++steps;
    const bool is_loss = event.Is<FaultEvent>() && event.As<FaultEvent>()->fault == kLifetimeOver;
    if (is_loss) losses.push_back(event.replica + " after " + std::to_string(steps));
  }
  std::ranges::sort(losses);
  return losses;
}

TEST_F(FaultInjectorTest, TheMachinesOfAClusterAgeByTheStepsOfItsFirstReplica) {
  const auto losses = LossesOf({"workerpool0-0", "workerpool1-0", "workerpool1-1"}, clock_);
  EXPECT_EQ(losses.size(), 3u);
  EXPECT_EQ(LossesOf({"workerpool1-1", "workerpool0-0", "workerpool1-0"}, clock_), losses);
}

// Whether the machine is lost at its third step, after its program has ended at the first one.
bool IsLostAfterAnEnd(const ExitEvent& end, std::vector<Fault> faults, Clock& clock) {
  FaultInjectorOptions options;
  options.faults = std::move(faults);
  options.vm_lifetime = MachineLifetime{MachineLifetime::Kind::kConstant, std::chrono::minutes(3)};
  options.step_time = std::chrono::minutes(1);
  FakeRun run;
  FaultInjector injector(std::move(options), clock);
  injector.Attach(run);
  run.on_lost = [&](const std::string& replica) {
    if (injector.events().size() > 8) injector.Report(Exit(replica, 2, 0, 9));
  };
  injector.Report(State("RUNNING"));
  injector.Report(Start("workerpool0-0", 1));
  injector.Report(Live("workerpool0-0", 1));
  injector.Report(Step("workerpool0-0", 1, 1));
  Event exit = Exit("workerpool0-0", 1);
  exit.body = end;
  injector.Report(std::move(exit));
  injector.Report(Start("workerpool0-0", 2));
  injector.Report(Live("workerpool0-0", 2));
  for (int64_t step = 1; step <= 2; ++step) injector.Report(Step("workerpool0-0", 2, step));
  injector.End();
  injector.Drain();
  return std::ranges::any_of(injector.events(), [](const Event& event) {
    return event.Is<FaultEvent>() && event.As<FaultEvent>()->fault == kLifetimeOver;
  });
}

TEST_F(FaultInjectorTest, AMachineDoesNotBecomeYoungerWhenItsProgramStartsAgain) {
  for (const int status : {1, 127, 128, 200, 255}) {
    EXPECT_TRUE(IsLostAfterAnEnd({.exit_code = status}, {}, clock_)) << status;
  }
  EXPECT_FALSE(IsLostAfterAnEnd({.signal = 9}, {}, clock_)) << "another machine";
  EXPECT_FALSE(IsLostAfterAnEnd({.lost = "it could not be started"}, {}, clock_));
}

// A program may answer the notice with an error of its own.
TEST_F(FaultInjectorTest, AMachineThatAFaultTookAwayIsReplacedWhateverTheStatus) {
  const std::vector<Fault> notice = {MaintenanceFault("maintenance 1", "workerpool0-0", AtStep(1))};
  for (const int status : {1, 143}) {
    EXPECT_FALSE(IsLostAfterAnEnd({.exit_code = status}, notice, clock_)) << status;
  }
}

TEST_F(FaultInjectorTest, FailsAProgramBeforeItsMachineIsLost) {
  FaultInjectorOptions options;
  options.vm_lifetime = MachineLifetime{MachineLifetime::Kind::kConstant, std::chrono::minutes(3)};
  options.step_time = std::chrono::minutes(1);
  options.faults = {FailFault("fail 1", "master-0", AtStep(3))};
  injector_ = std::make_unique<FaultInjector>(std::move(options), clock_);
  injector_->Attach(world_);
  world_.on_failed = [this](const std::string& replica, int status) {
    injector_->Report(Exit(replica, 1, status));
  };
  Running({"master-0"});
  for (int64_t step = 1; step <= 3; ++step) injector_->Report(Step("master-0", 0, step));
  EXPECT_TRUE(world_.WasAsked("fail master-0 with 1"));
  EXPECT_EQ(world_.Count("lose master-0"), 0);
}

TEST_F(FaultInjectorTest, FailsAProgramWithItsOwnStatus) {
  world_.on_failed = [this](const std::string& replica, int status) {
    injector_->Report(Exit(replica, 1, status));
  };
  Direct({FailFault("fail 1", "master-0", AtStep(3))});
  Running({"master-0"});
  injector_->Report(Step("master-0", 0, 3));
  EXPECT_TRUE(world_.WasAsked("fail master-0 with 1"));
}

// Nothing waits at a line of the service. If the injector did, all replicas would wait for it.
TEST_F(FaultInjectorTest, HoldsNobodyAtALineOfTheService) {
  Direct({Hold({.kind = LogTrigger{"machine"}, .replica = "any"}, AtStep(5, "worker-0"))});
  injector_->Report(Line("service", 0, "waiting for a machine"));
  Running({"master-0", "worker-0"});
  auto met = InBackground(Storage("worker-0", 0, "create", "job/a"), Phase::kBefore);
  ASSERT_EQ(met.wait_for(kDeadline), std::future_status::ready);
  EXPECT_EQ(clock_.holders(), 0);
  EXPECT_EQ(injector_->tallies()[0].seen, 0);
  injector_->Report(Line("master-0", 0, "machine found"));
  auto held = std::async(std::launch::async,
                         [this] { return injector_->WaitForLineFaults("master-0", 1); });
  EXPECT_EQ(held.wait_for(milliseconds(30)), std::future_status::timeout);
  injector_->Report(Step("worker-0", 0, 5));
  ASSERT_EQ(held.wait_for(kDeadline), std::future_status::ready);
  EXPECT_TRUE(held.get());
}

// Before its first line, no replica has shown that it waits.
TEST_F(FaultInjectorTest, HoldsOnlyTheReplicaThatPrintsTheFirstLine) {
  Direct({Hold({.kind = LogTrigger{"first"}}, AtStep(5, "worker-0"))});
  Running({"master-0", "worker-0"});
  injector_->Report(Line("master-0", 0, "first"));
  EXPECT_EQ(clock_.holders(), 0);
  auto other = InBackground(Storage("worker-0", 0, "create", "job/a"), Phase::kBefore);
  ASSERT_EQ(other.wait_for(kDeadline), std::future_status::ready);
  auto held = std::async(std::launch::async,
                         [this] { return injector_->WaitForLineFaults("master-0", 1); });
  EXPECT_EQ(held.wait_for(milliseconds(30)), std::future_status::timeout);
  injector_->Report(Step("worker-0", 0, 5));
  EXPECT_EQ(held.wait_for(kDeadline), std::future_status::ready);
}

// The boot may end between its line and its next watched call.
TEST_F(FaultInjectorTest, HoldsNoLaterBootAtALineOfOneThatIsOver) {
  Direct({Hold({.kind = LogTrigger{"first"}}, AtStep(5, "worker-0"))});
  Running({"master-0", "worker-0"});
  injector_->Report(Line("master-0", 0, "first"));
  injector_->Report(Exit("master-0", 1, 1));
  Boot("master-0", 2);
  auto met = std::async(std::launch::async,
                        [this] { return injector_->WaitForLineFaults("master-0", 2); });
  ASSERT_EQ(met.wait_for(kDeadline), std::future_status::ready);
  EXPECT_TRUE(met.get());
}

TEST_F(FaultInjectorTest, LeavesTheFaultsOfALaterBootToIt) {
  Direct({Hold({.kind = LogTrigger{"first"}}, AtStep(5, "worker-0"))});
  Running({"master-0", "worker-0"});
  injector_->Report(Exit("master-0", 1, 1));
  Boot("master-0", 2);
  injector_->Report(Line("master-0", 0, "first"));
  EXPECT_FALSE(injector_->WaitForLineFaults("master-0", 1));
  auto held = std::async(std::launch::async,
                         [this] { return injector_->WaitForLineFaults("master-0", 2); });
  EXPECT_EQ(held.wait_for(milliseconds(30)), std::future_status::timeout);
  injector_->Report(Step("worker-0", 0, 5));
  ASSERT_EQ(held.wait_for(kDeadline), std::future_status::ready);
  EXPECT_TRUE(held.get());
}

TEST_F(FaultInjectorTest, InjectsAndEndsFaultsAtLinesOfABootThatIsOver) {
  Direct({HangUntil({.kind = LogTrigger{"first"}, .replica = "worker-0"},
                    {.kind = LogTrigger{"second"}, .replica = "worker-0"})});
  Running({"master-0", "worker-0"});
  ASSERT_TRUE(injector_->WaitForLineFaults("worker-0", 1));  // from here on, it waits for them
  injector_->Report(Line("worker-0", 0, "first"));
  EXPECT_EQ(world_.Count("freeze master-0"), 0);
  injector_->Report(Exit("worker-0", 1, 1));
  ASSERT_TRUE(world_.WasAsked("freeze master-0"));
  injector_->ReportAndWait(Storage("master-0", 1, "create", "job/a"), Phase::kAfter);  // frozen
  Boot("worker-0", 2);
  injector_->Report(Line("worker-0", 0, "second"));
  EXPECT_EQ(world_.Count("thaw master-0"), 0);
  injector_->Report(Exit("worker-0", 2, 1));
  EXPECT_TRUE(world_.WasAsked("thaw master-0"));
}

TEST_F(FaultInjectorTest, InjectsAndEndsFaultsAtLinesOfTheServiceAlthoughReplicasWait) {
  Direct({HangUntil({.kind = LogTrigger{"lost"}, .replica = "any"},
                    {.kind = LogTrigger{"found"}, .replica = "any"})});
  Running();
  ASSERT_TRUE(injector_->WaitForLineFaults("master-0", 1));
  injector_->Report(Line("service", 0, "a machine is lost"));
  ASSERT_TRUE(world_.WasAsked("freeze master-0"));
  injector_->Report(Line("service", 0, "a machine is found"));
  EXPECT_TRUE(world_.WasAsked("thaw master-0"));
}

TEST_F(FaultInjectorTest, ReportsAnUntilThatNeverCame) {
  Direct({Hold(BeforeCreate("*"), AtStep(5, "worker-0"))});
  Running({"master-0", "worker-0"});
  auto met = InBackground(Storage("master-0", 0, "create", "job/a"), Phase::kBefore);
  EXPECT_EQ(met.wait_for(milliseconds(30)), std::future_status::timeout);
  injector_->End();
  ASSERT_EQ(met.wait_for(kDeadline), std::future_status::ready);
  EXPECT_FALSE(injector_->tallies()[0].until_came);
}

TEST_F(FaultInjectorTest, NamesHoldsThatWaitForEachOthersReplicas) {
  Fault of_worker = HoldFault("hold 2", "worker-0", BeforeCreate("*"));
  of_worker.until = AtStep(7, "master-0");
  Direct({Hold(BeforeCreate("*"), AtStep(5, "worker-0")), of_worker});
  Running({"master-0", "worker-0"});
  auto master = InBackground(Storage("master-0", 0, "create", "job/a"), Phase::kBefore);
  EXPECT_EQ(master.wait_for(milliseconds(30)), std::future_status::timeout);
  EXPECT_TRUE(injector_->tallies()[0].circle.empty());
  auto worker = InBackground(Storage("worker-0", 0, "create", "job/b"), Phase::kBefore);
  EXPECT_EQ(worker.wait_for(milliseconds(30)), std::future_status::timeout);
  injector_->End();
  ASSERT_EQ(master.wait_for(kDeadline), std::future_status::ready);
  ASSERT_EQ(worker.wait_for(kDeadline), std::future_status::ready);
  const std::vector<FaultTally> tallies = injector_->tallies();
  EXPECT_EQ(tallies[0].circle, (std::vector<std::string>{"hold 1", "hold 2"}));
  EXPECT_EQ(tallies[1].circle, (std::vector<std::string>{"hold 2", "hold 1"}));
}

TEST(HoldCircle, LeadsOverTheFaultsThatAHoldWaitsFor) {
  Fault of_worker = HoldFault("hold 2", "worker-0", BeforeCreate("*"));
  of_worker.until = Trigger{.kind = FaultTrigger{"kill 1"}};
  const std::vector<Fault> faults = {Hold(BeforeCreate("*"), AtStep(5, "worker-0")), of_worker,
                                     Kill(AtStep(9))};
  EXPECT_EQ(FindHoldCircle(faults, {0, 1}, 1), (std::vector<std::string>{"hold 2", "hold 1"}));
  EXPECT_TRUE(FindHoldCircle(faults, {1}, 1).empty());
  EXPECT_TRUE(FindHoldCircle(faults, {0, 1}, 2).empty());
}

TEST(HoldCircle, NeedsAReplicaThatAloneCanEndEachHold) {
  Fault of_worker = HoldFault("hold 2", "worker-0", BeforeCreate("*"));
  of_worker.until = AtStep(7);  // of any replica
  const std::vector<Fault> faults = {Hold(BeforeCreate("*"), AtStep(5, "worker-0")), of_worker};
  EXPECT_TRUE(FindHoldCircle(faults, {0, 1}, 0).empty());
  EXPECT_TRUE(FindHoldCircle(faults, {0, 1}, 1).empty());
}

TEST_F(FaultInjectorTest, EndsAHangWhenItsUntilComes) {
  Direct({HangUntil(AtStep(3), AtStep(9, "worker-0"))});
  Running({"master-0", "worker-0"});
  injector_->Report(Step("master-0", 0, 3));
  ASSERT_TRUE(world_.WasAsked("freeze master-0"));
  EXPECT_EQ(world_.Count("thaw master-0"), 0);
  injector_->Report(Step("worker-0", 0, 9));
  EXPECT_TRUE(world_.WasAsked("thaw master-0"));
}

TEST_F(FaultInjectorTest, EndsAHangAfterItsTime) {
  Direct({HangFault("hang 1", "master-0", AtStep(3), milliseconds(20))});
  Running();
  injector_->Report(Step("master-0", 0, 3));
  EXPECT_TRUE(world_.WasAsked("freeze master-0"));
  EXPECT_TRUE(world_.WasAsked("thaw master-0"));
}

// More of them than the injector has threads.
TEST_F(FaultInjectorTest, InjectsAndEndsFaultsWhileManyTimedOnesLast) {
  std::vector<std::string> replicas;
  std::vector<Fault> faults;
  for (int i = 0; i < 8; ++i) {
    replicas.push_back("worker-" + std::to_string(i));
    faults.push_back(
        HangFault("hang " + std::to_string(i), replicas.back(), AtStep(3), std::chrono::hours(1)));
  }
  faults.push_back(HangFault("short hang", "master-0", AtStep(3), milliseconds(1)));
  Direct(std::move(faults));
  Running(replicas);
  Boot("master-0", 1);
  for (const std::string& replica : replicas) {
    injector_->Report(Step(replica, 0, 3));
    ASSERT_TRUE(world_.WasAsked("freeze " + replica));
  }
  injector_->Report(Step("master-0", 0, 3));
  EXPECT_TRUE(world_.WasAsked("thaw master-0"));
  for (const std::string& replica : replicas) EXPECT_EQ(world_.Count("thaw " + replica), 0);
  injector_->End();
  injector_->Drain();
  for (const std::string& replica : replicas) EXPECT_EQ(world_.Count("thaw " + replica), 1);
}

TEST_F(FaultInjectorTest, EndsATimedHangThatBeginsAtTheEnd) {
  Direct({HangFault("hang 1", "master-0", AtStep(3), std::chrono::hours(1))});
  world_.on_frozen = [this] { injector_->End(); };
  Running();
  injector_->Report(Step("master-0", 0, 3));
  EXPECT_TRUE(world_.WasAsked("thaw master-0"));
}

TEST_F(FaultInjectorTest, EndsAllHangsAtTheEnd) {
  Direct({HangUntil(AtStep(3), AtStep(9, "worker-0"))});
  Running();
  injector_->Report(Step("master-0", 0, 3));
  ASSERT_TRUE(world_.WasAsked("freeze master-0"));
  injector_->End();
  EXPECT_TRUE(world_.WasAsked("thaw master-0"));
}

TEST_F(FaultInjectorTest, EndsAHangThatBeginsAtTheEnd) {
  Direct({HangUntil(AtStep(3), AtStep(9, "worker-0"))});
  world_.on_frozen = [this] { injector_->End(); };
  Running();
  injector_->Report(Step("master-0", 0, 3));
  EXPECT_TRUE(world_.WasAsked("thaw master-0"));
}

// What faults use (launchers, the engine) is destroyed after the end.
TEST_F(FaultInjectorTest, UsesNothingOfTheRunOnceItIsDrained) {
  Direct({HangFault("hang 1", "master-0", AtStep(3), std::chrono::minutes(10))});
  std::promise<void> may_go_on;
  std::atomic<bool> is_done{false};
  world_.on_thawed = [&, gate = may_go_on.get_future().share()] {
    gate.wait();
    is_done = true;
  };
  Running();
  injector_->Report(Step("master-0", 0, 3));
  ASSERT_TRUE(world_.WasAsked("freeze master-0"));
  injector_->End();
  auto drained = std::async(std::launch::async, [&] {
    injector_->Drain();
    return is_done.load();
  });
  EXPECT_TRUE(world_.WasAsked("thaw master-0"));
  may_go_on.set_value();
  EXPECT_TRUE(drained.get());
}

TEST_F(FaultInjectorTest, EndsAFaultOfTheNetworkBeforeItsReplicaContinues) {
  Fault cut = NetworkCutFault("cut", "master-0", "storage", BeforeCreate("a"));
  cut.until = BeforeCreate("b");
  Direct({cut});
  Running();
  const auto before = [this](const std::string& object) {
    Event create{.replica = "master-0"};
    create.body = StorageEvent{.op = "create", .object = object};
    injector_->ReportAndWait(create, Phase::kBefore);
  };
  before("a");
  EXPECT_EQ(world_.Count("cut master-0 off from storage"), 1);
  EXPECT_EQ(world_.Count("end fault 7"), 0);
  before("b");
  EXPECT_EQ(world_.Count("end fault 7"), 1);
}

// The machine that is lost then cannot close its connections. FakeRun checks the order.
TEST_F(FaultInjectorTest, InjectsWhatFollowsAFaultOfTheNetworkAfterIt) {
  Direct({NetworkCutFault("cut", "master-0", "worker-0", AtStep(3)),
          Kill({.kind = FaultTrigger{"cut"}})});
  Running();
  injector_->Report(Step("master-0", 0, 3));
  EXPECT_TRUE(world_.WasAsked("lose master-0"));
  EXPECT_EQ(world_.Count("cut master-0 off from worker-0"), 1);
}

TEST_F(FaultInjectorTest, KeepsAFaultOfTheNetworkThatHasNoEnd) {
  Direct({NetworkCutFault("cut", "master-0", "worker-0", AtStep(3))});
  Running();
  injector_->Report(Step("master-0", 0, 3));
  ASSERT_TRUE(world_.WasAsked("cut master-0 off from worker-0"));
  EXPECT_EQ(world_.Count("end fault 7"), 0);
  EXPECT_EQ(injector_->tallies()[0].what, "network_cut (worker-0) after step 3");
}

TEST_F(FaultInjectorTest, EndsAFaultOfTheNetworkAfterItsTime) {
  Direct({NetworkCutFault("cut", "master-0", "worker-0", AtStep(3), milliseconds(1))});
  Running();
  injector_->Report(Step("master-0", 0, 3));
  EXPECT_TRUE(world_.WasAsked("end fault 7"));
}

TEST_F(FaultInjectorTest, FillsADiskFromItsTriggerToItsUntil) {
  Fault full = DiskFullFault("disk_full 1", "master-0", AtStep(3));
  full.until = AtStep(5);
  Direct({full});
  Running({"master-0", "worker-0"});
  for (const int64_t step : {1, 2, 3, 4, 5, 6}) {
    injector_->Report(Step("master-0", 0, step));
    EXPECT_EQ(injector_->IsDiskFull("master-0"), step == 3 || step == 4) << step;
    EXPECT_FALSE(injector_->IsDiskFull("worker-0"));
  }
  EXPECT_TRUE(injector_->tallies()[0].until_came);
}

TEST_F(FaultInjectorTest, KeepsADiskFullUntilTheReplicaHasANewOne) {
  Direct({DiskFullFault("disk_full 1", "master-0", AtStep(3))});
  Running();
  injector_->Report(Step("master-0", 0, 3));
  Event kept = Start("master-0", 2);
  kept.body = StartEvent{.fresh_disk = false};
  injector_->Report(kept);
  EXPECT_TRUE(injector_->IsDiskFull("master-0"));
  Boot("worker-0", 1);
  EXPECT_TRUE(injector_->IsDiskFull("master-0"));
  Boot("master-0", 3);
  EXPECT_FALSE(injector_->IsDiskFull("master-0"));
}

TEST_F(FaultInjectorTest, FillsVolumesFromItsTriggerToItsUntil) {
  Fault full = VolumeFullFault("volume_full 1", "master-0", AtStep(3));
  full.until = AtStep(5);
  Direct({full});
  Running();
  for (const int64_t step : {1, 2, 3, 4, 5, 6}) {
    injector_->Report(Step("master-0", 0, step));
    EXPECT_EQ(injector_->AreVolumesFull(), step == 3 || step == 4) << step;
    EXPECT_FALSE(injector_->IsDiskFull("master-0"));
  }
  EXPECT_TRUE(injector_->tallies()[0].until_came);
}

TEST_F(FaultInjectorTest, StartsAReplicaAgainThatEndedWithAnErrorWhileVolumesWereFull) {
  Direct({VolumeFullFault("volume_full 1", "master-0", AtStep(3))});
  Running({"master-0", "worker-0", "worker-1"});
  injector_->ReportEnd(Exit("worker-1", 1, 1));
  EXPECT_EQ(world_.Count("replace worker-1"), 0) << "there was space";
  injector_->Report(Step("master-0", 0, 3));
  EXPECT_TRUE(injector_->AreVolumesFull());
  injector_->ReportEnd(Exit("worker-0", 1, 1));
  EXPECT_EQ(world_.Count("replace worker-0"), 1);
  EXPECT_FALSE(injector_->AreVolumesFull());
  injector_->ReportEnd(Exit("master-0", 1, 0, 9));
  EXPECT_EQ(world_.Count("replace master-0"), 0);
}

TEST_F(FaultInjectorTest, ReplacesAReplicaWhoseFullDiskMadeItFailIfTheFaultSaysSo) {
  for (const bool replace : {true, false}) {
    Direct({DiskFullFault("disk_full 1", "master-0", AtStep(3), replace)});
    Running({"master-0", "worker-0"});
    injector_->Report(Step("master-0", 0, 3));
    injector_->ReportEnd(Exit("worker-0", 1, 1));
    EXPECT_EQ(world_.Count("replace worker-0"), 0) << "its own disk has space";
    injector_->ReportEnd(Exit("master-0", 1, 1));
    EXPECT_EQ(world_.Count("replace master-0"), 1) << replace;
  }
}

TEST_F(FaultInjectorTest, LeavesAReplicaThatEndsWellWhileVolumesAreFull) {
  Direct({VolumeFullFault("volume_full 1", "master-0", AtStep(3))});
  Running();
  injector_->Report(Step("master-0", 0, 3));
  injector_->ReportEnd(Exit("master-0", 1));
  EXPECT_EQ(world_.Count("replace master-0"), 0);
  EXPECT_FALSE(injector_->AreVolumesFull());
}

TEST_F(FaultInjectorTest, StartsDelayedReplicasAfterTheEnd) {
  Fault kill = Kill(BeforeCreate("*"));
  kill.until = AtStep(7, "worker-0");
  Direct({kill});
  world_.on_lost = [this](const std::string&) { injector_->Report(Exit("master-0", 1, 0, 9)); };
  Running({"master-0", "worker-0"});
  injector_->ReportAndWait(Storage("master-0", 0, "create", "job/a"), Phase::kBefore);
  injector_->End();
  EXPECT_FALSE(injector_->DelayStart("master-0", [] {}));
}

TEST_F(FaultInjectorTest, DelaysAReplacementUntilDownUntil) {
  Fault kill = Kill(BeforeCreate("*"));
  kill.until = AtStep(7, "worker-0");
  Direct({kill});
  world_.on_lost = [this](const std::string&) { injector_->Report(Exit("master-0", 1, 0, 9)); };
  Running({"master-0", "worker-0"});
  injector_->ReportAndWait(Storage("master-0", 0, "create", "job/a"), Phase::kBefore);
  std::promise<void> started;
  EXPECT_FALSE(injector_->DelayStart("worker-0", [] {}));
  ASSERT_TRUE(injector_->DelayStart("master-0", [&started] { started.set_value(); }));
  auto start = started.get_future();
  EXPECT_EQ(start.wait_for(milliseconds(30)), std::future_status::timeout);
  injector_->Report(Step("worker-0", 0, 7));
  EXPECT_EQ(start.wait_for(kDeadline), std::future_status::ready);
  EXPECT_FALSE(injector_->DelayStart("master-0", [] {}));
}

TEST_F(FaultInjectorTest, RefusesStorageWithTheStatusOfTheFault) {
  Direct({RefuseStorageFault("storage_error 1", "", BeforeCreate("*/a"), 429)});
  Running();
  const FaultResponse first =
      injector_->ReportAndWait(Storage("master-0", 1, "create", "job/a"), Phase::kBefore);
  EXPECT_EQ(first.kind, FaultResponse::Kind::kRefuse);
  EXPECT_EQ(first.status, 429);
  EXPECT_EQ(
      injector_->ReportAndWait(Storage("master-0", 1, "create", "job/a"), Phase::kBefore).kind,
      FaultResponse::Kind::kGoOn);
}

TEST_F(FaultInjectorTest, DoesNotRefuseAnOperationWithoutACaller) {
  Direct({RefuseStorageFault("storage_error 1", "master-0", BeforeCreate("*/a")),
          DelayStorageFault("storage_error 2", "", BeforeCreate("*/a"), milliseconds(1))});
  Running();
  Event unheard = Storage("master-0", 1, "create", "job/a");
  BodyOf<StorageEvent>(unheard).is_unanswered = true;
  EXPECT_EQ(injector_->ReportAndWait(unheard, Phase::kBefore).kind, FaultResponse::Kind::kGoOn);
  const std::vector<FaultTally> tallies = injector_->tallies();
  EXPECT_TRUE(tallies[0].injected_at.empty());
  EXPECT_EQ(tallies[0].seen, 1);
  EXPECT_EQ(tallies[1].injected_at.size(), 1u);
}

TEST_F(FaultInjectorTest, InjectsAFaultAfterAnother) {
  Direct({RefuseStorageFault("storage_error 1", "master-0", BeforeCreate("*/a")),
          CancelFault("cancel 1", {.kind = FaultTrigger{"storage_error 1"}})});
  Running();
  injector_->ReportAndWait(Storage("master-0", 1, "create", "job/a"), Phase::kBefore);
  EXPECT_TRUE(world_.WasAsked("cancel"));
  EXPECT_EQ(injector_->tallies()[1].injected_at.size(), 1u);
}

TEST_F(FaultInjectorTest, CountsEventsOnlySinceTheFaultThatATriggerNames) {
  Trigger next_write = BeforeCreate("*");
  next_write.since = "notice";
  Direct({SignalFault("again", "master-0", next_write, SIGTERM),
          MaintenanceFault("notice", "master-0", BeforeCreate("*/b"))});
  Running();
  for (const char* object : {"job/a", "job/b"}) {
    injector_->ReportAndWait(Storage("master-0", 1, "create", object), Phase::kBefore);
  }
  EXPECT_EQ(world_.Count("signal 15 master-0"), 0);
  EXPECT_EQ(injector_->tallies()[0].seen, 0);
  injector_->ReportAndWait(Storage("master-0", 1, "create", "job/c"), Phase::kBefore);
  EXPECT_EQ(world_.Count("signal 15 master-0"), 1);
  EXPECT_EQ(injector_->tallies()[0].what, "signal before create * since fault 'notice'");
}

TEST_F(FaultInjectorTest, HoldsTheClockUntilTheFaultHasTakenEffect) {
  Direct({Kill({.kind = StateTrigger{"RUNNING"}})});
  Running();
  ASSERT_TRUE(world_.WasAsked("lose master-0"));
  EXPECT_EQ(clock_.holders(), 1);
  auto met = InBackground(Storage("master-0", 0, "create", "job/a"), Phase::kBefore);
  EXPECT_EQ(met.wait_for(milliseconds(30)), std::future_status::timeout);
  injector_->Report(Exit("master-0", 1, 0, 9));
  ASSERT_EQ(met.wait_for(kDeadline), std::future_status::ready);
  injector_.reset();  // joins the threads that inject faults
  EXPECT_EQ(clock_.holders(), 0);
}

TEST_F(FaultInjectorTest, InjectsAFaultAtItsTime) {
  Direct({CancelFault("cancel 1", {.kind = TimeTrigger{seconds(90)}})});
  EXPECT_EQ(injector_->NextTime(), kNever);
  injector_->SetSubmitted(Instant{} + seconds(10));
  EXPECT_EQ(injector_->NextTime(), Instant{} + seconds(100));
  injector_->AdvanceTo(Instant{} + seconds(99));
  EXPECT_EQ(world_.Count("cancel"), 0);
  injector_->AdvanceTo(Instant{} + seconds(100));
  EXPECT_TRUE(world_.WasAsked("cancel"));
  EXPECT_EQ(injector_->NextTime(), kNever);
}

TEST_F(FaultInjectorTest, DoesNothingAfterTheEnd) {
  Direct({Kill(BeforeCreate("*"))});
  Running();
  const size_t known = injector_->events().size();
  injector_->End();
  EXPECT_TRUE(injector_->ended());
  EXPECT_EQ(
      injector_->ReportAndWait(Storage("master-0", 1, "create", "job/a"), Phase::kBefore).kind,
      FaultResponse::Kind::kGoOn);
  injector_->Report(Step("master-0", 1, 1));
  injector_->AdvanceTo(Instant::max());
  EXPECT_EQ(injector_->events().size(), known);
  EXPECT_EQ(world_.Count("lose master-0"), 0);
}

// After the list has ended, another job may run whose boots have the numbers of dead ones.
TEST_F(FaultInjectorTest, HoldsNoReplicaAfterTheEnd) {
  Direct({});
  injector_->Report(Start("master-0", 1));
  injector_->ReportProcessesDead("master-0", 1);
  EXPECT_FALSE(injector_->WaitForLineFaults("master-0", 1));
  injector_->End();
  EXPECT_TRUE(injector_->WaitForLineFaults("master-0", 1));
  EXPECT_EQ(injector_->ReportAndWait(Storage("master-0", 1, "create", "a"), Phase::kBefore).kind,
            FaultResponse::Kind::kGoOn);
}

TEST_F(FaultInjectorTest, ReportsEachLineToItsWatcherOnceAndInOrder) {
  Direct({});
  std::vector<int64_t> numbers;
  injector_->Watch([&numbers](const Event& h) { numbers.push_back(h.number); });
  Running();
  injector_->Report(Step("master-0", 1, 1));
  EXPECT_EQ(numbers, (std::vector<int64_t>{1, 2, 3, 4}));
}

// Many replicas on threads of their own, each killed now and then.
TEST_F(FaultInjectorTest, SupportsManyThreads) {
  constexpr int kReplicas = 8;
  constexpr int kBoots = 5;
  std::vector<Fault> faults;
  for (int i = 0; i < kReplicas; ++i) {
    Fault kill = KillFault("kill " + std::to_string(i), "worker-" + std::to_string(i),
                           BeforeCreate("*/last"));
    kill.when.nth.every = 1;
    faults.push_back(std::move(kill));
  }
  Direct(std::move(faults));
  std::array<std::atomic<int>, kReplicas> boots{};
  world_.on_lost = [&](const std::string& replica) {
    const auto i = static_cast<size_t>(std::stoi(replica.substr(7)));
    injector_->Report(Exit(replica, boots[i], 0, 9));
  };
  injector_->Report(State("RUNNING"));
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kReplicas; ++i) {
    threads.emplace_back([&, i] {
      const std::string replica = "worker-" + std::to_string(i);
      for (int boot = 1; boot <= kBoots; ++boot) {
        boots[i] = boot;
        Boot(replica, boot);
        for (int step = 0; step < 20; ++step) {
          injector_->Report(Step(replica, boot, step));
          injector_->ReportAndWait(Storage(replica, boot, "create", "job/w"), Phase::kBefore);
          injector_->ReportAndWait(Storage(replica, boot, "create", "job/w"), Phase::kAfter);
        }
        EXPECT_EQ(
            injector_->ReportAndWait(Storage(replica, boot, "create", "job/last"), Phase::kBefore)
                .kind,
            FaultResponse::Kind::kGone);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::vector<Event> list = injector_->events();
  EXPECT_EQ(list.size(), 1u + kReplicas * kBoots * (3u + 40u + 1u));
  for (size_t i = 0; i < list.size(); ++i) EXPECT_EQ(list[i].number, static_cast<int64_t>(i) + 1);
  for (const FaultTally& tally : injector_->tallies()) {
    EXPECT_EQ(tally.injected_at.size(), static_cast<size_t>(kBoots)) << tally.name;
  }
}

}  // namespace
}  // namespace caip::harness
