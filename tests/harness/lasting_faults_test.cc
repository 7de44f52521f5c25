// Faults that last: hangs, and faults of the network.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>

#include "tests/harness/fault_injector_world.h"

namespace caip::harness {
namespace {

using std::chrono::milliseconds;

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

}  // namespace
}  // namespace caip::harness
