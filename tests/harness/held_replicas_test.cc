// Faults that hold replicas: at their operations and at their lines, and holds that wait for each
// other.

#include <gtest/gtest.h>

#include <chrono>
#include <future>

#include "harness/faults/hold_circle.h"
#include "tests/harness/fault_injector_world.h"

namespace caip::harness {
namespace {

using std::chrono::milliseconds;

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

}  // namespace
}  // namespace caip::harness
