// The list of events, kills and other faults that take effect at once, and the end of the run.

#include "harness/faults/fault_injector.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "tests/harness/fault_injector_world.h"

namespace caip::harness {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

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

TEST_F(FaultInjectorTest, FailsAProgramWithItsOwnStatus) {
  world_.on_failed = [this](const std::string& replica, int status) {
    injector_->Report(Exit(replica, 1, status));
  };
  Direct({FailFault("fail 1", "master-0", AtStep(3))});
  Running({"master-0"});
  injector_->Report(Step("master-0", 0, 3));
  EXPECT_TRUE(world_.WasAsked("fail master-0 with 1"));
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
