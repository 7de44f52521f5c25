// What the explorer calls wrong, what it doubts, and what it leaves alone.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/explorer/progress_comparison.h"
#include "harness/explorer/recovery_comparison.h"
#include "tests/harness/run_of.h"

namespace caip::harness {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string kPickle = "\x80\x04 weights";
constexpr int kSteps = 6;

Json Record(int64_t step) { return {{"step", step}, {"loss", 1.0 / static_cast<double>(step)}}; }

/// Saves each step before (`saves_first`) or behind the line that tells of it.
struct Trainer {
  bool saves_first = false;
  std::string model = kPickle;

  void Do(Evidence& run, int boot, int64_t from, int64_t to) const {
    for (int64_t step = from; step <= to; ++step) {
      const Happening line = Step("master-0", boot, step, Record(step));
      if (!saves_first) run.happenings.push_back(line);
      run.happenings.push_back(Storage("master-0", boot, "overwrite", "job/out/ckpt"));
      if (saves_first) run.happenings.push_back(line);
    }
  }
  void Finish(Evidence& run, int boot) const {
    run.happenings.push_back(Storage("master-0", boot, "create", "job/out/model"));
    run.happenings.push_back(Exit("master-0", boot));
    run.happenings = Numbered(std::move(run.happenings));
    run.objects["job/out/ckpt"] = {"6", 6};
    run.objects["job/out/model"] = {model, 1};
    run.state = "SUCCEEDED";
  }
  Evidence Undisturbed() const {
    Evidence run;
    run.happenings = {Start("master-0", 1), Live("master-0", 1)};
    Do(run, 1, 1, kSteps);
    Finish(run, 1);
    return run;
  }
  /// Its machine goes behind the write of step 3; the next boot begins with step `resumes`.
  Evidence Restarted(int64_t resumes) const {
    Evidence run;
    run.happenings = {Start("master-0", 1), Live("master-0", 1)};
    Do(run, 1, 1, 3);
    if (saves_first) run.happenings.pop_back();
    run.happenings.push_back(Exit("master-0", 1, 0, 9));
    run.happenings.push_back(Start("master-0", 2));
    Do(run, 2, resumes, kSteps);
    Finish(run, 2);
    return run;
  }
  CrashPoint Point() const {
    const size_t events = 2 + 3 * 2 - (saves_first ? 1 : 0);
    return {.replica = "master-0", .op = "overwrite", .text = "job/out/ckpt", .events = events};
  }
};

std::vector<Flaw> Judged(const Trainer& trainer, const Evidence& run, TwinComparison how = {}) {
  const Peace peace(trainer.Undisturbed(), trainer.Undisturbed(), std::move(how));
  return JudgeRecovery(peace, trainer.Point(), run);
}

std::vector<std::string> CausesOf(const std::vector<Flaw>& flaws) {
  std::vector<std::string> causes;
  for (const Flaw& flaw : flaws) causes.push_back((flaw.doubt.empty() ? "" : "? ") + flaw.cause);
  return causes;
}

TEST(RecoveryJudge, FindsNothingInARecoveryThatComesToTheSame) {
  const Trainer trainer;
  EXPECT_THAT(CausesOf(Judged(trainer, trainer.Restarted(4))), IsEmpty());
}

TEST(RecoveryJudge, DoubtsOtherBytesWhereAllStepsAreTheSame) {
  const Trainer trainer;
  Evidence run = trainer.Restarted(4);
  run.objects["job/out/model"].bytes += " again";
  EXPECT_THAT(CausesOf(Judged(trainer, run)),
              ElementsAre("? objects hold something else: job/out/model"));
}

TEST(RecoveryJudge, IsSureOfOtherBytesThatAreJsonOrComeWithOtherSteps) {
  Trainer trainer;
  Evidence run = trainer.Restarted(4);
  run.objects["job/out/ckpt"].bytes = "{\"w\": 2}";
  trainer.model = "{\"w\": 1}";
  run.objects["job/out/model"].bytes = "{\"w\": 1.5}";
  EXPECT_THAT(CausesOf(Judged(trainer, run)),
              ElementsAre("objects hold something else: job/out/ckpt",
                          "objects hold something else: job/out/model"));
  run = trainer.Restarted(4);
  run.objects["job/out/model"].bytes = "\x80 other";
  run.happenings[run.happenings.size() - 4].record["loss"] = 7;
  EXPECT_THAT(CausesOf(Judged(trainer, run)),
              ElementsAre("steps differ in 'loss'", "objects hold something else: job/out/model"));
}

TEST(RecoveryJudge, ComparesOnlyWhatTheScenarioCompares) {
  Trainer trainer;
  trainer.model = "{\"w\": 1.0}";
  Evidence run = trainer.Restarted(4);
  run.objects["job/out/model"].bytes = "{\"w\": 1.0000001}";
  TwinComparison how;
  EXPECT_THAT(Judged(trainer, run, how), SizeIs(1));
  how.objects.json_tolerance = 1e-6;
  EXPECT_THAT(CausesOf(Judged(trainer, run, how)), IsEmpty());
  how = {};
  how.objects.except = {"*/model"};
  EXPECT_THAT(CausesOf(Judged(trainer, run, how)), IsEmpty());
  run.happenings[run.happenings.size() - 4].record["loss"] = 0.25001;
  how.steps.fields = {"accuracy"};
  EXPECT_THAT(CausesOf(Judged(trainer, run, how)), IsEmpty());
  how.steps = {};
  how.steps.tolerance = 0.2;
  EXPECT_THAT(CausesOf(Judged(trainer, run, how)), IsEmpty());
  how.steps.tolerance = 0;
  EXPECT_THAT(CausesOf(Judged(trainer, run, how)), ElementsAre("steps differ in 'loss'"));
}

TEST(RecoveryJudge, KnowsAStepThatWasDoneAndNotTold) {
  const Trainer trainer{.saves_first = true};
  EXPECT_THAT(CausesOf(Judged(trainer, trainer.Restarted(4))), IsEmpty());
}

TEST(RecoveryJudge, DoubtsAStepThatWasNotToldWhereNothingShowsThatItWasDone) {
  const Trainer trainer{.saves_first = true, .model = "{\"step\": 6}"};
  EXPECT_THAT(CausesOf(Judged(trainer, trainer.Restarted(4))),
              ElementsAre("? steps are never done"));
}

TEST(RecoveryJudge, IsSureOfStepsThatWereNotDone) {
  const Trainer tells_first;
  Evidence skipped = tells_first.Restarted(5);
  skipped.objects["job/out/model"].bytes = "\x80 less";  // it shows
  EXPECT_THAT(CausesOf(Judged(tells_first, skipped)),
              ElementsAre("steps are never done", "objects hold something else: job/out/model"));
  const Trainer saves_first{.saves_first = true};
  EXPECT_THAT(CausesOf(Judged(saves_first, saves_first.Restarted(5))),
              ElementsAre("steps are never done"));
  Evidence run = saves_first.Restarted(4);  // untold, and with another result: the first is sure
  run.objects["job/out/model"].bytes = "{\"w\": 0}";
  EXPECT_THAT(CausesOf(Judged(saves_first, run)),
              ElementsAre("steps are never done", "objects hold something else: job/out/model"));
}

TEST(RecoveryJudge, DoubtsAResultThatIsWrittenAgainWithTheSameBytes) {
  const Trainer trainer;
  CrashPoint point = trainer.Point();
  Evidence run = trainer.Undisturbed();
  point.events = run.happenings.size() - 1;  // behind the result
  run.happenings.back() = Exit("master-0", 1, 0, 9);
  run.happenings.push_back(Start("master-0", 2));
  run.happenings.push_back(Storage("master-0", 2, "overwrite", "job/out/model"));
  run.happenings = Numbered(std::move(run.happenings));
  const Peace peace(trainer.Undisturbed(), trainer.Undisturbed());
  EXPECT_THAT(CausesOf(JudgeRecovery(peace, point, run)),
              ElementsAre("? a result that was whole is written again: job/out/model"));
  run.objects["job/out/model"].bytes = "\x80 other";
  EXPECT_THAT(CausesOf(JudgeRecovery(peace, point, run)),
              ElementsAre("a result that was whole is written again: job/out/model",
                          "? objects hold something else: job/out/model"));
}

TEST(RecoveryJudge, SaysHowAJobEndsAndNothingElse) {
  const Trainer trainer;
  Evidence run = trainer.Restarted(5);
  run.state = "FAILED";
  run.error_message = "The replica master 0 exited with 1.\nKeyError: 'step 12'\n";
  EXPECT_THAT(CausesOf(Judged(trainer, run)),
              ElementsAre("the job ends FAILED: KeyError: 'step #'"));
  run.broke_off = "limits.wall: not over after 1m";
  EXPECT_THAT(CausesOf(Judged(trainer, run)), ElementsAre("the job does not end"));
}

TEST(RecoveryJudge, LeavesAloneWhatDiffersInPeace) {
  const Trainer trainer;
  Evidence other = trainer.Undisturbed();
  other.objects["job/out/model"].bytes += " at noon";
  const Peace peace(trainer.Undisturbed(), other);
  Evidence run = trainer.Restarted(4);
  run.objects["job/out/model"].bytes += " at night";
  EXPECT_THAT(CausesOf(JudgeRecovery(peace, trainer.Point(), run)), IsEmpty());
  EXPECT_FALSE(peace.Compares("job/out/model"));
  EXPECT_TRUE(peace.Compares("job/out/ckpt"));
}

TEST(RecoveryJudge, TakesOnlyCountsOfStartsForCounting) {
  const Trainer trainer;
  Evidence peace_run = trainer.Undisturbed();
  peace_run.objects["job/out/commit"] = {"{\"step\": 6, \"attempt\": 1}", 1};
  peace_run.objects["job/out/history"] = {"[1, 2]", 1};
  Peace peace(peace_run, peace_run);
  Evidence early = peace_run;
  early.objects["job/out/commit"].bytes = "{\"step\": 6, \"attempt\": 2}";
  early.objects["job/out/history"].bytes = "[1, 1, 2]";
  peace.Learn(early);
  EXPECT_THAT(peace.counting_patterns(), ElementsAre("job/out/commit"));
  EXPECT_TRUE(peace.MayCount("job/out/history"));
  Evidence run = peace_run;
  run.objects["job/out/history"].bytes = "[1, 2, 2]";
  EXPECT_THAT(CausesOf(JudgeRecovery(peace, trainer.Point(), run)),
              ElementsAre("? objects hold something else: job/out/history"));
}

TEST(ProgressJudge, SeesAMomentWithoutACheckpointBetweenTwoThatHaveOne) {
  const Trainer trainer;
  const Peace peace(trainer.Undisturbed(), trainer.Undisturbed());
  const auto at = [](const char* op, size_t events, int64_t first_step) {
    CrashPoint point{.replica = "master-0", .op = op, .text = "job/out/ckpt"};
    point.events = events;
    return Resumption{point, first_step};
  };
  std::vector<Resumption> all = {at("create", 4, 2), at("delete", 6, 1), at("create", 7, 3)};
  const auto fallen = FallenBack(peace, all);
  ASSERT_THAT(fallen, SizeIs(1));
  EXPECT_EQ(fallen.begin()->first, 1u);
  EXPECT_EQ(fallen.begin()->second.cause, "all progress is lost behind delete job/out/ckpt");
  EXPECT_EQ(WantedStep(fallen.begin()->second), 2);
  all.pop_back();  // none that goes on behind it: the end, perhaps
  EXPECT_THAT(FallenBack(peace, all), IsEmpty());
}

}  // namespace
}  // namespace caip::harness
