#include "engine/scheduler.h"

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <string>
#include <thread>

namespace caip::engine {
namespace {

RunKey Named(const std::string& id) { return {"p", id, ""}; }

struct Fixture {
  explicit Fixture(int runs_max = 0) : scheduler(runs_max) {}
  void Queue(const std::string& id, int priority = 0, std::set<std::string> wanted = {},
             bool resumed = false) {
    scheduler.Add(Named(id), {resumed, priority, ++age}, std::move(wanted));
    scheduler.BecomeReady(Named(id));
  }
  // Starts every job that may start, except those in `wait`. Returns their ids in order.
  std::string StartAll(const std::set<std::string>& wait = {}, int active = 0) {
    std::string started;
    while (auto next = scheduler.Next(active)) {
      if (wait.contains(next->job_id)) {
        scheduler.Waits(*next);
        continue;
      }
      scheduler.Remove(*next);
      started += next->job_id;
      ++active;
    }
    return started;
  }
  Scheduler scheduler;
  uint64_t age = 0;
};

TEST(Scheduler, StartsTheOlderFirst) {
  Fixture f;
  f.Queue("a");
  f.Queue("b");
  f.Queue("c");
  EXPECT_EQ(f.StartAll(), "abc");
}

TEST(Scheduler, HigherPriorityComesBeforeAge) {
  Fixture f;
  f.Queue("a", 0);
  f.Queue("b", 1000);
  f.Queue("c", 5);
  f.Queue("d", 5);
  EXPECT_EQ(f.StartAll(), "bcda");
}

TEST(Scheduler, StartsNobodyBeforeItsDelayIsOver) {
  Fixture f;
  f.scheduler.Add(Named("a"), {false, 0, 1}, {});
  EXPECT_EQ(f.scheduler.Next(0), std::nullopt);
  f.scheduler.BecomeReady(Named("a"));
  EXPECT_EQ(f.scheduler.Next(0), Named("a"));
}

TEST(Scheduler, KeepsToTheMostRunsAtOnce) {
  Fixture f(2);
  f.Queue("a");
  f.Queue("b");
  f.Queue("c");
  EXPECT_EQ(f.StartAll(), "ab");
  f.scheduler.TryAgain();
  EXPECT_EQ(f.StartAll({}, 1), "c");
}

TEST(Scheduler, WhatWasRunningBeforeIsNotHeldBackByTheLimit) {
  Fixture f(1);
  f.Queue("a", 1000);
  f.Queue("b", 0, {}, true);
  f.Queue("c", 0, {}, true);
  EXPECT_EQ(f.StartAll(), "bc");
}

TEST(Scheduler, WhoWantsTheSameDevicesDoesNotOvertake) {
  Fixture f;
  f.Queue("a", 9, {"T4"});
  f.Queue("b", 8, {"T4"});
  f.Queue("c", 7, {"V100"});
  f.Queue("d", 6);
  EXPECT_EQ(f.StartAll({"a"}), "cd");
  f.scheduler.TryAgain();
  EXPECT_EQ(f.StartAll(), "ab");
}

TEST(Scheduler, TriesAWaitingRunAgainOnlyWhenSomethingWasGivenBack) {
  Fixture f;
  f.Queue("a", 0, {"T4"});
  EXPECT_EQ(f.StartAll({"a"}), "");
  EXPECT_EQ(f.scheduler.Next(0), std::nullopt);
  f.scheduler.TryAgain();
  EXPECT_EQ(f.scheduler.Next(0), Named("a"));
}

TEST(Scheduler, ARunThatLeavesTheQueueLetsThoseGoWhomItHeldUp) {
  Fixture f;
  f.Queue("a", 9, {"T4"});
  f.Queue("b", 8, {"T4"});
  EXPECT_EQ(f.StartAll({"a"}), "");
  f.scheduler.Remove(Named("a"));
  EXPECT_EQ(f.StartAll(), "b");
}

TEST(QueueBoard, CountsFromOneInTheOrderOfStarting) {
  QueueBoard board;
  board.Put(Named("a"), {false, 0, 1});
  board.Put(Named("b"), {false, 7, 2});
  board.Put(Named("c"), {false, 0, 3});
  EXPECT_EQ(board.PositionOf(Named("b")), 1);
  EXPECT_EQ(board.PositionOf(Named("a")), 2);
  EXPECT_EQ(board.PositionOf(Named("c")), 3);
  board.Take(Named("b"));
  board.Take(Named("b"));
  EXPECT_EQ(board.PositionOf(Named("a")), 1);
  EXPECT_EQ(board.PositionOf(Named("b")), 0);
  EXPECT_EQ(board.PositionOf(Named("never")), 0);
}

TEST(QueueBoard, CountsJobsThatComeAndGoInAnyOrder) {
  QueueBoard board;
  std::map<std::pair<int, uint64_t>, std::string> waiting;  // by falling priority and rising age
  for (uint64_t age = 0; age < 500; ++age) {
    const int priority = static_cast<int>(age * 7 % 5);
    const std::string id = std::to_string(age);
    board.Put(Named(id), {false, priority, age});
    board.Put(Named(id), {false, 9, age});  // it has its place already
    waiting[{-priority, age}] = id;
    if (age % 3 != 0) continue;
    const auto gone = std::next(waiting.begin(), static_cast<int>(age * 13 % waiting.size()));
    board.Take(Named(gone->second));
    waiting.erase(gone);
  }
  int64_t position = 0;
  for (const auto& [place, id] : waiting) EXPECT_EQ(board.PositionOf(Named(id)), ++position) << id;
}

}  // namespace
}  // namespace caip::engine
