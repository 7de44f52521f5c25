// Machines that are lost after their lifetime, counted in steps of the trainer.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "harness/scenario/job_kind.h"
#include "tests/harness/fault_injector_world.h"

namespace caip::harness {
namespace {

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

}  // namespace
}  // namespace caip::harness
