// What the recoveries of an exploration show together about the use of what was saved.

#include "harness/explorer/progress_comparison.h"

#include <gtest/gtest.h>

#include "tests/harness/run_of.h"

namespace caip::harness {
namespace {

constexpr char kTrainer[] = "master-0";

/// Steps 1 and 2, a save of two files, step 3, and another save.
Evidence TwoSaves() {
  Evidence run;
  run.state = "SUCCEEDED";
  run.events =
      Numbered({State("RUNNING"), Start(kTrainer, 1), Live(kTrainer, 1), Step(kTrainer, 1, 1),
                Step(kTrainer, 1, 2), Storage(kTrainer, 1, "create", "job/ckpt-2/config"),
                Storage(kTrainer, 1, "create", "job/ckpt-2/weights"), Step(kTrainer, 1, 3),
                Storage(kTrainer, 1, "create", "job/ckpt-3/config")});
  return run;
}

/// A restart after so many events, which goes on at that step.
Resumption After(size_t events, int64_t first_step) {
  CrashPoint point{.replica = kTrainer, .op = "create", .text = "job/ckpt", .events = events};
  point.changes = 1;
  return {point, first_step};
}

TEST(LostProgress, IsNotShownByRestartsWithinTheFirstSave) {
  const Baseline baseline(TwoSaves(), TwoSaves(), {});
  EXPECT_TRUE(FindLostProgress(baseline, {After(6, 1), After(6, 1), After(7, 1)}).empty());
}

TEST(LostProgress, IsShownByARestartAfterACompleteSave) {
  const Baseline baseline(TwoSaves(), TwoSaves(), {});
  const auto lost = FindLostProgress(baseline, {After(6, 1), After(7, 1), After(8, 1)});
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost.begin()->first, 2u);
  EXPECT_EQ(lost.begin()->second.kind, Flaw::Kind::kLostProgress);
  EXPECT_TRUE(FindLostProgress(baseline, {After(6, 1), After(7, 1), After(8, 3)}).empty());
}

}  // namespace
}  // namespace caip::harness
