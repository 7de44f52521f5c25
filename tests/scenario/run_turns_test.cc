// Runs that go on together, and runs that are alone.

#include "emulator/explore/run_turns.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace caip::explore {
namespace {

TEST(RunTurns, SayWhichRunsWereTogether) {
  RunTurns turns;
  const size_t first = turns.Begin(false);
  const size_t second = turns.Begin(false);
  EXPECT_TRUE(turns.End(first));
  EXPECT_TRUE(turns.End(second)) << "although the other one has ended";
  const size_t third = turns.Begin(false);
  EXPECT_FALSE(turns.End(third));
  const size_t alone = turns.Begin(true);
  EXPECT_FALSE(turns.End(alone));
}

TEST(RunTurns, LetNoRunBeginBesideOneThatIsAlone) {
  RunTurns turns;
  std::atomic<int> going{0};
  std::atomic<int> disturbed{0};
  const auto work = [&](int thread) {
    for (int i = 0; i < 500; ++i) {
      const bool alone = (i + thread) % 5 == 0;
      const size_t turn = turns.Begin(alone);
      ++going;
      std::this_thread::yield();
      if (alone && going != 1) ++disturbed;
      --going;
      const bool had_company = turns.End(turn);
      if (alone && had_company) ++disturbed;
    }
  };
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) threads.emplace_back(work, thread);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(disturbed, 0);
  EXPECT_EQ(going, 0);
}

// The one that is alone waits until the runs before it end.
TEST(RunTurns, LetARunThatIsAloneBeginAfterTheOthers) {
  RunTurns turns;
  std::atomic<bool> has_ended{false};
  const size_t first = turns.Begin(false);
  bool began_after = false;
  std::thread alone([&] {
    const size_t turn = turns.Begin(true);
    began_after = has_ended;
    turns.End(turn);
  });
  has_ended = true;
  turns.End(first);
  alone.join();
  EXPECT_TRUE(began_after);
}

}  // namespace
}  // namespace caip::explore
