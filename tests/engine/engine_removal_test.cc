// Removal of jobs that have ended.

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/engine/engine_service.h"

namespace caip::engine {
namespace {

using run::JobState;

TEST(Removal, LeavesTheEngineFreeWhileTheRestOfTheJobIsRemoved) {
  Service service;
  service.launcher.EndAtOnce();
  Engine& engine = service.Start();
  ASSERT_TRUE(engine.Submit("p", Sent(AJob("old"))).ok());
  ASSERT_TRUE(service.Await("old", JobState::kSucceeded));
  const Status removed = engine.Remove("p", "old", RemovedId::kFree, [&]() -> Status {
    EXPECT_TRUE(engine.Submit("p", Sent(AJob("new"))).ok());
    EXPECT_TRUE(service.Await("new", JobState::kSucceeded)) << "the engine goes on";
    EXPECT_TRUE(engine.Get("p", "old").ok()) << "the job itself goes last";
    EXPECT_EQ(engine.Submit("p", Sent(AJob("old"))).error().code, Code::kAlreadyExists);
    return Ok{};
  });
  EXPECT_TRUE(removed.ok());
  EXPECT_EQ(engine.Get("p", "old").error().code, Code::kNotFound);
}

TEST(Removal, RemovesAJobOnceAndKeepsItAfterAnError) {
  Service service;
  service.launcher.EndAtOnce();
  Engine& engine = service.Start();
  ASSERT_TRUE(engine.Submit("p", Sent(AJob("j"))).ok());
  ASSERT_TRUE(service.Await("j", JobState::kSucceeded));
  const auto fails = [] { return Status(Error{Code::kResourceExhausted, "the disk is full"}); };
  EXPECT_EQ(engine.Remove("p", "j", RemovedId::kFree, fails).error().message, "the disk is full");
  EXPECT_TRUE(engine.Get("p", "j").ok());
  std::atomic<int> asked{0}, removed{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      const Status status = engine.Remove("p", "j", RemovedId::kFree, [&]() -> Status {
        ++asked;
        return Ok{};
      });
      removed += status.ok();
      EXPECT_TRUE(status.ok() || status.error().code == Code::kNotFound);
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(removed, 1);
  EXPECT_EQ(asked, 1) << "the rest of a job that is gone may be that of the next one";
}

TEST(Removal, KeepsAJobThatHasNotEnded) {
  Service service;
  Engine& engine = service.Start();
  ASSERT_TRUE(engine.Submit("p", Sent(AJob("j"))).ok());
  ASSERT_TRUE(service.Await("j", JobState::kRunning));
  const Status removed = engine.Remove("p", "j", RemovedId::kFree, [] {
    ADD_FAILURE() << "its log is still written";
    return Status(Ok{});
  });
  EXPECT_EQ(removed.error().code, Code::kFailedPrecondition);
  EXPECT_EQ(engine.Get("p", "j")->state, JobState::kRunning);
}

}  // namespace
}  // namespace caip::engine
