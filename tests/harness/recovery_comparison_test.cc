// What the explorer calls wrong, what it doubts, and what it leaves alone.

#include "harness/explorer/recovery_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/recovery_runs.h"

namespace caip::harness {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

TEST(RecoveryComparison, FindsNothingInARecoveryWithTheSameResult) {
  const Trainer trainer;
  EXPECT_THAT(CausesOf(Compared(trainer, trainer.Restarted(4))), IsEmpty());
}

TEST(RecoveryComparison, DoubtsOtherBytesIfAllStepsAreTheSame) {
  const Trainer trainer;
  Evidence run = trainer.Restarted(4);
  run.objects["job/out/model"].bytes += " again";
  EXPECT_THAT(CausesOf(Compared(trainer, run)),
              ElementsAre("? objects have different contents: job/out/model"));
}

TEST(RecoveryComparison, IsSureOfOtherValuesInBytesOfTheSameSize) {
  const Trainer trainer;
  Evidence run = trainer.Restarted(4);
  run.objects["job/out/model"].bytes.back() ^= '\x55';
  EXPECT_THAT(CausesOf(Compared(trainer, run)),
              ElementsAre("objects have different contents: job/out/model"));
}

TEST(RecoveryComparison, IsSureOfOtherJsonAndOfOtherBytesWithOtherSteps) {
  Trainer trainer;
  Evidence run = trainer.Restarted(4);
  run.objects["job/out/ckpt"].bytes = "{\"w\": 2}";
  trainer.model = "{\"w\": 1}";
  run.objects["job/out/model"].bytes = "{\"w\": 1.5}";
  EXPECT_THAT(CausesOf(Compared(trainer, run)),
              ElementsAre("objects have different contents: job/out/ckpt",
                          "objects have different contents: job/out/model"));
  run = trainer.Restarted(4);
  run.objects["job/out/model"].bytes = "\x80 other";
  BodyOf<StepEvent>(run.events[run.events.size() - 4]).record["loss"] = 7;
  EXPECT_THAT(
      CausesOf(Compared(trainer, run)),
      ElementsAre("steps differ in 'loss'", "objects have different contents: job/out/model"));
}

TEST(RecoveryComparison, DoubtsNumbersThatDriftAndWhatFollowsFromThem) {
  Trainer trainer;
  Evidence run = trainer.Restarted(4);
  auto& loss = BodyOf<StepEvent>(run.events[run.events.size() - 4]).record["loss"];
  const double before = loss.get<double>();
  loss = before * (1 + 5e-6);
  run.objects["job/out/model"].bytes += " of other numbers";
  EXPECT_THAT(CausesOf(Compared(trainer, run)),
              ElementsAre("? numbers drift after a restart",
                          "? objects have different contents: job/out/model"));
  loss = before * (1 + 2e-5);
  EXPECT_THAT(
      CausesOf(Compared(trainer, run)),
      ElementsAre("steps differ in 'loss'", "objects have different contents: job/out/model"));
  run = trainer.Restarted(4);
  trainer.model = R"({"w": [1, 0.5], "step": 6})";
  for (const auto& [bytes, cause] : std::vector<std::pair<std::string, std::string>>{
           {R"({"w": [1, 0.500001], "step": 6})", "? numbers drift after a restart"},
           {R"({"w": [1, 0.5001], "step": 6})", "objects have different contents: job/out/model"},
           {R"({"w": [1, 0.500001], "step": 7})", "objects have different contents: job/out/model"},
           {R"({"w": [1], "step": 6})", "objects have different contents: job/out/model"},
           {R"({"w": [1, 0.500001], "b": 6})", "objects have different contents: job/out/model"}}) {
    run.objects["job/out/model"].bytes = bytes;
    EXPECT_THAT(CausesOf(Compared(trainer, run)), ElementsAre(cause)) << bytes;
  }
}

TEST(RecoveryComparison, RanksAJobThatFailsBeforeLostProgressStepsObjectsAndDrift) {
  using Kind = Flaw::Kind;
  EXPECT_LT(RankOf(Kind::kJobFails), RankOf(Kind::kLostProgress));
  EXPECT_LT(RankOf(Kind::kLostProgress), RankOf(Kind::kSteps));
  EXPECT_LT(RankOf(Kind::kMissingSteps), RankOf(Kind::kContents));
  EXPECT_LT(RankOf(Kind::kLeftOver), RankOf(Kind::kDrift));
  for (const Kind kind : {Kind::kOther, Kind::kJobFails, Kind::kSteps, Kind::kDrift}) {
    EXPECT_EQ(FlawKindNamed(Name(kind)), kind);
  }
}

TEST(RecoveryComparison, ComparesOnlyWhatTheScenarioCompares) {
  Trainer trainer;
  trainer.model = "{\"w\": 1.0}";
  Evidence run = trainer.Restarted(4);
  run.objects["job/out/model"].bytes = "{\"w\": 1.0000001}";
  TwinComparison how;
  EXPECT_THAT(Compared(trainer, run, how), SizeIs(1));
  how.objects.json_tolerance = 1e-6;
  EXPECT_THAT(CausesOf(Compared(trainer, run, how)), IsEmpty());
  how = {};
  how.objects.except = {"*/model"};
  EXPECT_THAT(CausesOf(Compared(trainer, run, how)), IsEmpty());
  BodyOf<StepEvent>(run.events[run.events.size() - 4]).record["loss"] = 0.25001;
  how.steps.fields = {"accuracy"};
  EXPECT_THAT(CausesOf(Compared(trainer, run, how)), IsEmpty());
  how.steps = {};
  how.steps.tolerance = 0.2;
  EXPECT_THAT(CausesOf(Compared(trainer, run, how)), IsEmpty());
  how.steps.tolerance = 0;
  EXPECT_THAT(CausesOf(Compared(trainer, run, how)), ElementsAre("steps differ in 'loss'"));
}

TEST(RecoveryComparison, DoubtsAResultThatIsWrittenAgainWithTheSameBytes) {
  const Trainer trainer;
  CrashPoint point = trainer.Point();
  Evidence run = trainer.Undisturbed();
  point.events = run.events.size() - 1;  // after the result
  run.events.back() = Exit("master-0", 1, 0, 9);
  run.events.push_back(Start("master-0", 2));
  run.events.push_back(Storage("master-0", 2, "overwrite", "job/out/model"));
  run.events = Numbered(std::move(run.events));
  const Baseline baseline(trainer.Undisturbed(), trainer.Undisturbed());
  EXPECT_THAT(CausesOf(CompareRecovery(baseline, point, run)),
              ElementsAre("? a complete result is written again: job/out/model"));
  run.objects["job/out/model"].bytes = "\x80 other";
  EXPECT_THAT(CausesOf(CompareRecovery(baseline, point, run)),
              ElementsAre("a complete result is written again: job/out/model",
                          "? objects have different contents: job/out/model"));
}

TEST(RecoveryComparison, ReportsOnlyTheEndOfAFailedJob) {
  const Trainer trainer;
  Evidence run = trainer.Restarted(5);
  run.state = "FAILED";
  run.error_message = "The replica master 0 exited with 1.\nKeyError: 'step 12'\n";
  EXPECT_THAT(CausesOf(Compared(trainer, run)),
              ElementsAre("the job ends FAILED: KeyError: 'step #'"));
  run.broke_off = "limits.wall: the job did not end within 1m";
  EXPECT_THAT(CausesOf(Compared(trainer, run)), ElementsAre("the job does not end"));
}

TEST(RecoveryComparison, IgnoresWhatDiffersBetweenBaselineRuns) {
  const Trainer trainer;
  Evidence other = trainer.Undisturbed();
  other.objects["job/out/model"].bytes += " at noon";
  const Baseline baseline(trainer.Undisturbed(), other);
  Evidence run = trainer.Restarted(4);
  run.objects["job/out/model"].bytes += " at night";
  EXPECT_THAT(CausesOf(CompareRecovery(baseline, trainer.Point(), run)), IsEmpty());
  EXPECT_FALSE(baseline.Compares("job/out/model"));
  EXPECT_TRUE(baseline.Compares("job/out/ckpt"));
}

TEST(RecoveryComparison, DoubtsALogOfWhatEachStartDid) {
  const std::string log = "starting\nstep 1 loss=0.5\nstep 2 loss=0.25\n";
  for (const std::string& found : {log + "starting\nstep 2 loss=0.25\n", "starting\nste" + log}) {
    const Trainer trainer{.model = log};
    Evidence run = trainer.Restarted(4);
    run.objects["job/out/model"].bytes = found;
    const std::vector<Flaw> flaws = Compared(trainer, run);
    ASSERT_THAT(CausesOf(flaws), ElementsAre("? objects have different contents: job/out/model"));
    EXPECT_THAT(flaws[0].doubt, AllOf(HasSubstr("is a text"), Not(HasSubstr("pickle"))));
  }
}

TEST(RecoveryComparison, DoubtsAnOlderObjectThatARestartBeforeItsDeletionLeaves) {
  const Trainer trainer;
  const auto rotates = [](Evidence run, bool is_lost) {
    const auto exit = run.events.end() - 1;
    const int boot = exit->boot;
    std::vector<Event> more;
    for (const char* name : {"1", "2"}) {
      more.push_back(Storage("master-0", boot, "create", std::string("job/out/part-") + name));
    }
    if (is_lost) more.push_back(Exit("master-0", boot, 0, 9));
    if (is_lost) more.push_back(Start("master-0", boot + 1));
    if (!is_lost) more.push_back(Storage("master-0", boot, "delete", "job/out/part-1"));
    run.events.insert(exit, more.begin(), more.end());
    run.events = Numbered(std::move(run.events));
    run.objects["job/out/part-2"] = {"2", 2};
    if (is_lost) run.objects["job/out/part-1"] = {"1", 1};
    return run;
  };
  const Evidence first = rotates(trainer.Undisturbed(), false);
  const Baseline baseline(first, first);
  Evidence run = rotates(trainer.Undisturbed(), true);
  CrashPoint point{.replica = "master-0", .events = run.events.size() - 3};
  EXPECT_THAT(CausesOf(CompareRecovery(baseline, point, run)),
              ElementsAre("? objects are left over: job/out/part-#"));
  run.objects["job/out/tmp"] = {"1", 1};
  EXPECT_THAT(
      CausesOf(CompareRecovery(baseline, point, run)),
      ElementsAre("objects are left over: job/out/tmp", "? objects are left over: job/out/part-#"));
  point.events = 3;  // no save came before the restart, so its deletion was not due
  EXPECT_THAT(CausesOf(CompareRecovery(baseline, point, run)),
              Contains("objects are left over: job/out/part-#"));
}

TEST(RecoveryComparison, QuotesTheLastWordsOfATrainerWithoutATraceback) {
  const Trainer trainer;
  Evidence run = trainer.Restarted(4);
  run.state = "FAILED";
  run.error_message = "The replica master 0 exited with a non-zero status of 1. \nTo find out more";
  run.events.push_back(Exit("master-0", 3, 1));
  run.events.push_back(Line("master-0", 3, "no checkpoint in gs://job/out, 2 expected", "ERROR"));
  run.events.push_back(Line("master-0", 3, "bye"));
  run.events.push_back(Line("service", 0, "Job failed.", "ERROR"));
  EXPECT_THAT(CausesOf(Compared(trainer, run)),
              ElementsAre("the job ends FAILED: no checkpoint in gs://job/out, # expected"));
}

}  // namespace
}  // namespace caip::harness
