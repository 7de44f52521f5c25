// What the recoveries of an exploration show together about the use of what was saved.

#include "harness/explorer/progress_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/recovery_runs.h"
#include "tests/harness/run_of.h"

namespace caip::harness {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

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

/// The same, in a directory.
Evidence TwoSavesOfFiles() {
  Evidence run = TwoSaves();
  for (Event& event : run.events) {
    if (auto* write = std::get_if<StorageEvent>(&event.body)) write->object.insert(0, "/");
  }
  return run;
}

/// A restart after so many events, which goes on at that step.
Resumption After(size_t events, int64_t first_step) {
  CrashPoint point{.replica = kTrainer, .op = "create", .text = "job/ckpt", .events = events};
  point.changes = 1;
  return {point, first_step};
}

Resumption AfterFiles(size_t events, int64_t first_step) {
  Resumption resumption = After(events, first_step);
  resumption.point.changes = 0;  // of buckets
  return resumption;
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

TEST(LostProgress, IsShownInDirectoriesToo) {
  const Baseline baseline(TwoSavesOfFiles(), TwoSavesOfFiles(), {});
  const auto lost =
      FindLostProgress(baseline, {AfterFiles(6, 1), AfterFiles(7, 1), AfterFiles(8, 1)});
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost.begin()->first, 2u);
  // Restarts before the first write show nothing.
  EXPECT_TRUE(
      FindLostProgress(baseline, {AfterFiles(4, 1), AfterFiles(5, 1), AfterFiles(8, 1)}).empty());
}

/// Five steps. Steps 1 to 4 are saved, each by a file that is renamed.
Evidence FourSaves() {
  Evidence run;
  run.state = "SUCCEEDED";
  run.events = {State("RUNNING"), Start(kTrainer, 1), Live(kTrainer, 1)};
  for (int64_t step = 1; step <= 5; ++step) {
    run.events.push_back(Step(kTrainer, 1, step));
    if (step == 5) break;
    run.events.push_back(Storage(kTrainer, 1, "create", "/out/ckpt.tmp"));
    run.events.push_back(Storage(kTrainer, 1, "rename", "/out/ckpt.tmp"));
    BodyOf<StorageEvent>(run.events.back()).from = "/out/ckpt";
  }
  run.events = Numbered(std::move(run.events));
  return run;
}

// A trainer that loads the save of step 4 has nothing left to report if it reports a step after its
// save, so a restart there would not show that it was repaired.
TEST(LostProgress, IsShownWhereAMendedTrainerHasStepsLeft) {
  const Baseline baseline(FourSaves(), FourSaves(), {});
  const auto lost = FindLostProgress(
      baseline, {AfterFiles(15, 1), AfterFiles(14, 1), AfterFiles(12, 1), AfterFiles(9, 1)});
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost.begin()->first, 2u);
  EXPECT_EQ(lost.begin()->second.resume_step, 2);
  EXPECT_TRUE(lost.begin()->second.may_resume_later);
}

TEST(LostProgress, IsShownByTheFirstOfRestartsWithTooFewStepsLeft) {
  const Baseline baseline(FourSaves(), FourSaves(), {});
  const auto lost =
      FindLostProgress(baseline, {AfterFiles(15, 1), AfterFiles(14, 1), AfterFiles(13, 1)});
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost.begin()->first, 2u);
}

// A trainer that saves at the end of each epoch resumes at the first step of an epoch.
TEST(LostProgress, IsNotShownByStepsThatEachEpochRepeats) {
  Evidence run = FourSaves();
  for (Event& event : run.events) {
    if (event.Is<StepEvent>()) BodyOf<StepEvent>(event).step = 0;
  }
  run.events.insert(run.events.begin() + 4, Step(kTrainer, 1, 1));
  run.events = Numbered(std::move(run.events));
  const Baseline baseline(run, run, {});
  EXPECT_TRUE(
      FindLostProgress(baseline, {AfterFiles(9, 0), AfterFiles(12, 0), AfterFiles(13, 0)}).empty());
}

TEST(LostProgress, IsNotShownByAConfiguration) {
  Evidence run;
  run.state = "SUCCEEDED";
  run.events = Numbered({State("RUNNING"), Start(kTrainer, 1), Live(kTrainer, 1),
                         Storage(kTrainer, 1, "create", "/out/config"), Step(kTrainer, 1, 1),
                         Step(kTrainer, 1, 2), Storage(kTrainer, 1, "create", "/out/model")});
  const Baseline baseline(run, run, {});
  EXPECT_TRUE(
      FindLostProgress(baseline, {AfterFiles(4, 1), AfterFiles(6, 1), AfterFiles(7, 1)}).empty());
}

TEST(ProgressComparison, SeesAPointWithoutACheckpointBetweenTwoThatHaveOne) {
  const Trainer trainer;
  const Baseline baseline(trainer.Undisturbed(), trainer.Undisturbed());
  const auto at = [](const char* op, size_t events, int64_t first_step) {
    CrashPoint point{.replica = "master-0", .op = op, .text = "job/out/ckpt"};
    point.events = events;
    return Resumption{point, first_step};
  };
  std::vector<Resumption> all = {at("create", 4, 2), at("delete", 6, 1), at("create", 7, 3)};
  const auto fallen = FindFallbacks(baseline, all);
  ASSERT_THAT(fallen, SizeIs(1));
  EXPECT_EQ(fallen.begin()->first, 1u);
  EXPECT_EQ(fallen.begin()->second.cause, "all progress is lost after delete job/out/ckpt");
  EXPECT_EQ(fallen.begin()->second.resume_step, 2);
  all.pop_back();  // no restart resumes after it, as at the end of a run
  EXPECT_THAT(FindFallbacks(baseline, all), IsEmpty());
}

}  // namespace
}  // namespace caip::harness
