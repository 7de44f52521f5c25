// What the explorer calls wrong, what it doubts, and what it leaves alone.

#include "harness/explorer/recovery_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/explorer/progress_comparison.h"
#include "tests/harness/run_of.h"

namespace caip::harness {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

const std::string kPickle = "\x80\x04 weights";
constexpr int kSteps = 6;

Json Record(int64_t step) { return {{"step", step}, {"loss", 1.0 / static_cast<double>(step)}}; }

/// Saves each step before (`saves_first`) or after the line that reports it.
struct Trainer {
  bool saves_first = false;
  std::string model = kPickle;

  void Do(Evidence& run, int boot, int64_t from, int64_t to) const {
    for (int64_t step = from; step <= to; ++step) {
      const Event line = Step("master-0", boot, step, Record(step));
      if (!saves_first) run.events.push_back(line);
      run.events.push_back(Storage("master-0", boot, "overwrite", "job/out/ckpt"));
      if (saves_first) run.events.push_back(line);
    }
  }
  void Finish(Evidence& run, int boot) const {
    run.events.push_back(Storage("master-0", boot, "create", "job/out/model"));
    run.events.push_back(Exit("master-0", boot));
    run.events = Numbered(std::move(run.events));
    run.objects["job/out/ckpt"] = {"6", 6};
    run.objects["job/out/model"] = {model, 1};
    run.state = "SUCCEEDED";
  }
  Evidence Undisturbed() const {
    Evidence run;
    run.events = {Start("master-0", 1), Live("master-0", 1)};
    Do(run, 1, 1, kSteps);
    Finish(run, 1);
    return run;
  }
  /// Its machine goes away after the write of step 3; the next boot begins with step `resumes`.
  Evidence Restarted(int64_t resumes) const {
    Evidence run;
    run.events = {Start("master-0", 1), Live("master-0", 1)};
    Do(run, 1, 1, 3);
    if (saves_first) run.events.pop_back();
    run.events.push_back(Exit("master-0", 1, 0, 9));
    run.events.push_back(Start("master-0", 2));
    Do(run, 2, resumes, kSteps);
    Finish(run, 2);
    return run;
  }
  /// Its machine also goes away after the write of step 3 + `done`, all of which the second boot
  /// does but the last one it does not report. The third boot begins with the step after it.
  Evidence RestartedTwice(int64_t done) const {
    Evidence run;
    run.events = {Start("master-0", 1), Live("master-0", 1)};
    Do(run, 1, 1, 3);
    run.events.pop_back();
    run.events.push_back(Exit("master-0", 1, 0, 9));
    run.events.push_back(Start("master-0", 2));
    Do(run, 2, 4, 3 + done);
    run.events.pop_back();
    run.events.push_back(Exit("master-0", 2, 0, 9));
    run.events.push_back(Start("master-0", 3));
    Do(run, 3, 4 + done, kSteps);
    Finish(run, 3);
    return run;
  }
  /// The second restart of such a run.
  CrashPoint SecondPoint(int64_t done) const {
    CrashPoint point = Point();
    point.events += 2 + 2 * static_cast<size_t>(done) - 1;
    return point;
  }
  CrashPoint Point() const {
    const size_t events = 2 + 3 * 2 - (saves_first ? 1 : 0);
    return {.replica = "master-0", .op = "overwrite", .text = "job/out/ckpt", .events = events};
  }
};

std::vector<Flaw> Compared(const Trainer& trainer, const Evidence& run, TwinComparison how = {}) {
  const Baseline baseline(trainer.Undisturbed(), trainer.Undisturbed(), std::move(how));
  return CompareRecovery(baseline, trainer.Point(), run);
}

std::vector<std::string> CausesOf(const std::vector<Flaw>& flaws) {
  std::vector<std::string> causes;
  for (const Flaw& flaw : flaws) causes.push_back((flaw.doubt.empty() ? "" : "? ") + flaw.cause);
  return causes;
}

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

TEST(RecoveryComparison, FindsAStepThatWasDoneButNotReported) {
  const Trainer trainer{.saves_first = true};
  EXPECT_THAT(CausesOf(Compared(trainer, trainer.Restarted(4))), IsEmpty());
}

TEST(RecoveryComparison, DoubtsAStepThatWasNotReportedAndLeftNoTrace) {
  const Trainer trainer{.saves_first = true, .model = "{\"step\": 6}"};
  EXPECT_THAT(CausesOf(Compared(trainer, trainer.Restarted(4))),
              ElementsAre("? steps are missing"));
}

// A count of starts that an early restart changes, too, says nothing about the step.
TEST(RecoveryComparison, FindsAStepThatWasDoneBesideACountOfStarts) {
  const Trainer trainer{.saves_first = true};
  const std::string left = "job/out/left.json";
  Evidence first = trainer.Undisturbed();
  first.objects[left] = {"{\"left\": 19}", 1};
  Baseline baseline(first, first);
  Evidence early = first;
  early.objects[left].bytes = "{\"left\": 18}";
  baseline.Learn(early);
  Evidence run = trainer.Restarted(4);
  run.objects[left] = {"{\"left\": 18}", 2};
  const std::string count = "? objects have different contents: " + left;
  EXPECT_THAT(CausesOf(CompareRecovery(baseline, trainer.Point(), run)), ElementsAre(count));
  EXPECT_THAT(CausesOf(CompareRecovery(baseline, trainer.Point(), trainer.Restarted(5))),
              Contains("steps are missing"))
      << "step 4 was not done";
  run.objects["job/out/ckpt"].bytes = "7";  // a sure flaw
  EXPECT_THAT(
      CausesOf(CompareRecovery(baseline, trainer.Point(), run)),
      ElementsAre("steps are missing", "objects have different contents: job/out/ckpt", count));
}

// Only an object that is the same after the restart shows that the step was done.
TEST(RecoveryComparison, DoubtsAStepIfTheObjectThatDependsOnItDiffers) {
  const Trainer trainer{.saves_first = true, .model = "{\"w\": 0.5}"};
  Evidence run = trainer.Restarted(4);
  run.objects["job/out/model"].bytes = "{\"w\": 0.5000000001}";
  EXPECT_THAT(CausesOf(Compared(trainer, run)),
              ElementsAre("? steps are missing", "? numbers drift after a restart"));
}

// A trainer that saves before each line writes nothing after the last one. One that saves now and
// then, or after its lines, says nothing of the last step.
TEST(RecoveryComparison, FindsTheLastStepThatWasSavedAndNotReported) {
  const auto saves_before = [](int64_t every, const std::string& state, bool is_lost,
                               int64_t last) {
    Evidence run;
    run.events = {Start("master-0", 1), Live("master-0", 1)};
    for (int64_t step = 1; step <= last; ++step) {
      if (step % every == 0) {
        run.events.push_back(Storage("master-0", 1, "overwrite", "job/out/ckpt"));
      }
      if (step < last || !is_lost) run.events.push_back(Step("master-0", 1, step, Record(step)));
    }
    if (is_lost) run.events.push_back(Exit("master-0", 1, 0, 9));
    if (is_lost) run.events.push_back(Start("master-0", 2));
    run.events.push_back(Exit("master-0", is_lost ? 2 : 1));
    run.events = Numbered(std::move(run.events));
    run.objects["job/out/ckpt"] = {state, 1};
    run.state = "SUCCEEDED";
    return run;
  };
  const auto causes = [&](int64_t every, const std::string& state, int64_t last = kSteps) {
    const Evidence first = saves_before(every, state, false, last);
    const Baseline baseline(first, first);
    const Evidence run = saves_before(every, state, true, last);
    const CrashPoint point{.replica = "master-0", .events = run.events.size() - 3};
    return CausesOf(CompareRecovery(baseline, point, run));
  };
  const std::string state = "{\"w\": 0.5}";
  EXPECT_THAT(causes(1, state), IsEmpty());
  EXPECT_THAT(causes(2, state), ElementsAre("? steps are missing"));
  EXPECT_THAT(causes(1, "{\"step\": 6}"), ElementsAre("? steps are missing"));
  EXPECT_THAT(causes(1, state, 1), ElementsAre("? steps are missing")) << "a single step";
}

// The last object is a file that was written under another name, or in a folder that was.
TEST(RecoveryComparison, FindsAStepThatWasDoneAndSavedByARename) {
  const Trainer trainer{.saves_first = true};
  const auto renamed = [](Evidence run, const std::string& from, const std::string& to) {
    const auto exit = run.events.end() - 1;
    const int boot = exit->boot;
    BodyOf<StorageEvent>(*(exit - 1)).object = from == "job/out/new" ? from + "/model" : from;
    Event rename = Storage("master-0", boot, "rename", from);
    BodyOf<StorageEvent>(rename).from = to;
    run.events.insert(exit, std::move(rename));
    run.events = Numbered(std::move(run.events));
    run.objects[to == "job/out/end" ? to + "/model" : to] = run.objects["job/out/model"];
    run.objects.erase("job/out/model");
    return run;
  };
  const std::pair<std::string, std::string> renames[] = {{"job/out/model.tmp", "job/out/best"},
                                                         {"job/out/new", "job/out/end"}};
  for (const auto& [from, to] : renames) {
    const Evidence first = renamed(trainer.Undisturbed(), from, to);
    const Baseline baseline(first, first);
    const Evidence run = renamed(trainer.Restarted(4), from, to);
    EXPECT_THAT(CausesOf(CompareRecovery(baseline, trainer.Point(), run)), IsEmpty()) << to;
  }
}

TEST(RecoveryComparison, FindsAStepForEachOfTwoRestartsThatWasDoneButNotReported) {
  const Trainer trainer{.saves_first = true};
  const Baseline baseline(trainer.Undisturbed(), trainer.Undisturbed());
  const CrashPoint first = trainer.Point();
  for (const int64_t done : {1, 2}) {
    const Evidence run = trainer.RestartedTwice(done);
    const CrashPoint second = trainer.SecondPoint(done);
    EXPECT_THAT(CausesOf(CompareRecovery(baseline, second, run, &first)), IsEmpty()) << done;
    EXPECT_THAT(CausesOf(CompareRecovery(baseline, second, run)), ElementsAre("steps are missing"))
        << "one restart cannot lose two steps";
  }
  Evidence skips = trainer.RestartedTwice(1);  // step 5, too, which no boot did
  const auto is_fifth = [](const Event& event) {
    const auto* step = event.As<StepEvent>();
    return step && step->step == 5;
  };
  std::erase_if(skips.events, is_fifth);
  EXPECT_THAT(CausesOf(CompareRecovery(baseline, trainer.SecondPoint(1), skips, &first)),
              ElementsAre("steps are missing"));
}

TEST(RecoveryComparison, DoubtsACountForEachOfTwoRestarts) {
  const Trainer trainer{.model = "{\"restarts_left\": 3}"};
  Baseline baseline(trainer.Undisturbed(), trainer.Undisturbed());
  Evidence early = trainer.Undisturbed();
  early.objects["job/out/model"].bytes = "{\"restarts_left\": 2}";
  baseline.Learn(early);
  Evidence run = trainer.Restarted(4);
  run.objects["job/out/model"].bytes = "{\"restarts_left\": 1}";
  const CrashPoint first = trainer.Point();
  EXPECT_THAT(CausesOf(CompareRecovery(baseline, trainer.Point(), run, &first)),
              ElementsAre("? objects have different contents: job/out/model"));
  EXPECT_THAT(CausesOf(CompareRecovery(baseline, trainer.Point(), run)),
              ElementsAre("objects have different contents: job/out/model"));
}

// Without a step there is no early restart that shows what counts.
TEST(RecoveryComparison, IgnoresACountOfTwoRestartsLikeThatOfOne) {
  Trainer trainer;
  trainer.model = "attempt 1";
  Evidence run = trainer.Restarted(4);
  run.objects["job/out/model"].bytes = "attempt 3";
  const Baseline baseline(trainer.Undisturbed(), trainer.Undisturbed());
  const CrashPoint first = trainer.Point();
  EXPECT_THAT(CausesOf(CompareRecovery(baseline, trainer.Point(), run, &first)), IsEmpty());
  EXPECT_THAT(CausesOf(CompareRecovery(baseline, trainer.Point(), run)), SizeIs(1));
}

// A replica of a cluster saves its only step, and the first one ends the job before the next boot
// does anything. Others list what there is, more often in one run than in another.
TEST(RecoveryComparison, FindsTheRestartInAClusterWhoseReplicasHaveNoOrder) {
  const auto run = [](int lists, bool is_restarted) {
    Evidence found;
    found.events = {Start("master-0", 1), Start("worker-0", 1)};
    for (int i = 0; i < lists; ++i) {
      found.events.push_back(Storage("master-0", 1, "list", "job/out/"));
    }
    found.events.push_back(Storage("worker-0", 1, "create", "job/out/worker"));
    if (is_restarted) found.events.push_back(Injected("worker-0", 1, "restart"));
    if (is_restarted) found.events.push_back(Exit("worker-0", 1, 0, 9));
    if (is_restarted) found.events.push_back(Start("worker-0", 2));
    if (!is_restarted) found.events.push_back(Step("worker-0", 1, 1));
    found.events.push_back(Step("master-0", 1, 1));
    found.events.push_back(Exit("master-0", 1));
    found.events = Numbered(std::move(found.events));
    found.objects["job/out/worker"] = {"{}", 1};
    found.state = "SUCCEEDED";
    return found;
  };
  const Baseline baseline(run(1, false), run(1, false));
  const CrashPoint point{
      .replica = "worker-0", .op = "create", .text = "job/out/worker", .events = 4};
  for (const int lists : {0, 1, 9}) {
    const Evidence recovery = run(lists, true);
    const CrashPoint there = PointInRun(point, "restart", recovery.events);
    EXPECT_EQ(there.events, static_cast<size_t>(3 + lists));
    EXPECT_THAT(CausesOf(CompareRecovery(baseline, there, recovery)),
                ElementsAre("? steps are missing"))
        << lists;
  }
  const std::vector<Event> recorded = run(9, false).events;  // the fault is not in it
  EXPECT_EQ(PointInRun(point, "restart", recorded), point);
}

TEST(RecoveryComparison, IsSureOfStepsThatWereNotDone) {
  const Trainer tells_first;
  Evidence skipped = tells_first.Restarted(5);
  skipped.objects["job/out/model"].bytes = "\x80 less";  // it shows
  EXPECT_THAT(CausesOf(Compared(tells_first, skipped)),
              ElementsAre("steps are missing", "objects have different contents: job/out/model"));
  const Trainer saves_first{.saves_first = true};
  EXPECT_THAT(CausesOf(Compared(saves_first, saves_first.Restarted(5))),
              ElementsAre("steps are missing"));
  Evidence run = saves_first.Restarted(4);  // untold, and with another result: the first is sure
  run.objects["job/out/model"].bytes = "{\"w\": 0}";
  EXPECT_THAT(CausesOf(Compared(saves_first, run)),
              ElementsAre("steps are missing", "objects have different contents: job/out/model"));
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

TEST(RecoveryComparison, IgnoresOnlyCountersOfStarts) {
  const Trainer trainer;
  Evidence baseline_run = trainer.Undisturbed();
  baseline_run.objects["job/out/commit"] = {"{\"step\": 6, \"attempt\": 1}", 1};
  baseline_run.objects["job/out/history"] = {"[1, 2]", 1};
  Baseline baseline(baseline_run, baseline_run);
  Evidence early = baseline_run;
  early.objects["job/out/commit"].bytes = "{\"step\": 6, \"attempt\": 2}";
  early.objects["job/out/history"].bytes = "[1, 1, 2]";
  baseline.Learn(early);
  EXPECT_THAT(baseline.counting_patterns(), ElementsAre("job/out/commit"));
  EXPECT_TRUE(baseline.MayCount("job/out/history"));
  Evidence run = baseline_run;
  run.objects["job/out/history"].bytes = "[1, 2, 2]";
  EXPECT_THAT(CausesOf(CompareRecovery(baseline, trainer.Point(), run)),
              ElementsAre("? objects have different contents: job/out/history"));
}

TEST(RecoveryComparison, TakesNoOtherNumberForACountOfStarts) {
  Trainer trainer;
  trainer.model = "{\"examples\": 160}";
  Evidence run = trainer.Restarted(4);
  run.objects["job/out/model"].bytes = "{\"examples\": 161}";
  EXPECT_THAT(CausesOf(Compared(trainer, run)),
              ElementsAre("objects have different contents: job/out/model"));
  EXPECT_TRUE(CountsStarts("attempt 1", "attempt 2"));
  EXPECT_FALSE(CountsStarts("attempt 160", "attempt 161"));
  EXPECT_FALSE(CountsSecondStart("{\"loss\": 0.1}", "{\"loss\": 0.2}"));
  EXPECT_FALSE(CountsSecondStart("{\"loss\": 1.5e-1}", "{\"loss\": 1.5e-2}"));
}

TEST(RecoveryComparison, IsSureOfFractionsThatAnEarlyRestartChangesToo) {
  Trainer trainer;
  trainer.model = "{\"w\": [1, 0.5]}";
  Baseline baseline(trainer.Undisturbed(), trainer.Undisturbed());
  Evidence early = trainer.Undisturbed();
  early.objects["job/out/model"].bytes = "{\"w\": [1, 0.25]}";
  baseline.Learn(early);
  EXPECT_FALSE(baseline.MayCount("job/out/model"));
  Evidence run = trainer.Restarted(4);
  run.objects["job/out/model"].bytes = "{\"w\": [1, 0.125]}";
  EXPECT_THAT(CausesOf(CompareRecovery(baseline, trainer.Point(), run)),
              ElementsAre("objects have different contents: job/out/model"));
}

/// The flaws of a model that a restart before the first step changes into `early`, and the restart
/// at the crash point into `late`.
std::vector<std::string> CausesIfAnEarlyRestartChanges(const std::string& model,
                                                       const std::string& early,
                                                       const std::string& late) {
  const Trainer trainer{.model = model};
  Baseline baseline(trainer.Undisturbed(), trainer.Undisturbed());
  Evidence restarted = trainer.Undisturbed();
  restarted.objects["job/out/model"].bytes = early;
  baseline.Learn(restarted);
  Evidence run = trainer.Restarted(4);
  run.objects["job/out/model"].bytes = late;
  return CausesOf(CompareRecovery(baseline, trainer.Point(), run));
}

TEST(RecoveryComparison, IsSureOfAllValuesThatCountNoStartsIfAnEarlyRestartChangesThemToo) {
  const auto numbers = [](unsigned char low) {
    std::string bytes = "\x80\x04";
    for (unsigned char i = 0; i < 40; ++i) (bytes += 'G') += static_cast<char>(low + i);
    return bytes;
  };
  for (const auto& [model, restarted] : std::vector<std::pair<std::string, std::string>>{
           {numbers(130), numbers(190)},
           {"weight 1.25 bias 0.5\n", "weight 3.75 bias 0.125\n"},
           {"{\"examples\": 160}", "{\"examples\": 161}"},
           {"{\"w\": 0.5, \"starts\": 1}", "{\"w\": 0.25, \"starts\": 2}"}}) {
    EXPECT_THAT(CausesIfAnEarlyRestartChanges(model, restarted, restarted),
                ElementsAre("objects have different contents: job/out/model"))
        << model;
  }
}

TEST(RecoveryComparison, DoubtsWhatMayCountStartsIfAnEarlyRestartChangesItToo) {
  const std::string weights = "\x80" + std::string(80, '\xa5');
  for (const auto& [model, restarted] : std::vector<std::pair<std::string, std::string>>{
           {weights + "K\x01.", weights + "K\x02."},                          // counted
           {weights + "G\x41\xd9\x5a\x01.", weights + "G\x41\xd9\x5b\x77."},  // a time
           {"{\"saved_at\": 1764424800}", "{\"saved_at\": 1764424801}"},
           {"saved at 08:30:12\n", "saved at 08:30:13\n"},
           {"{\"starts\": 1, \"lines\": 7}", "{\"starts\": 2, \"lines\": 9}"},
           {"{\"restarts_left\": 3}", "{\"restarts_left\": 2}"},
           {"{\"cold_start\": 1}", "{\"cold_start\": 0}"},
           {"{\"previous\": -1}", "{\"previous\": 0}"},
           {"{\"resumed\": false, \"lines\": 7}", "{\"resumed\": true, \"lines\": 9}"}}) {
    EXPECT_THAT(CausesIfAnEarlyRestartChanges(model, restarted, restarted),
                ElementsAre("? objects have different contents: job/out/model"))
        << model;
  }
}

TEST(RecoveryComparison, DoubtsWholeNumbersOfATextIfAllStepsAreTheSame) {
  for (const auto& [model, restarted] : std::vector<std::pair<std::string, std::string>>{
           {"10 steps, took 2 s\n", "10 steps, took 1 s\n"},
           {"10 steps, took 1 s\n", "10 steps, took 0 s\n"},
           {"this process: 10 steps\n", "this process: 6 steps\n"},
           {"saved at 08:30:12.5\n", "saved at 08:30:44.5\n"}}) {
    for (const std::string& early : {model, restarted}) {
      EXPECT_THAT(CausesIfAnEarlyRestartChanges(model, early, restarted),
                  ElementsAre("? objects have different contents: job/out/model"))
          << restarted;
    }
  }
}

// No step shows it. A restart before the first step changes nothing, or adds a header.
TEST(RecoveryComparison, IsSureOfRowsThatARestartRepeatsCutsOrLoses) {
  const std::string header = "step,loss\n";
  const std::string rows = "1,9.5\n2,5.75\n3,3.5\n";
  for (const std::string& early : {header + rows, header + header + rows}) {
    for (const auto& [found, damage] : std::vector<std::pair<std::string, std::string>>{
             {header + "1,9.5\n2,5.75\n" + rows, "rows come more than once: "},
             {header + "1,9" + header + rows, "a row is cut, or joined with another line: "},
             {header + "2,5.75\n3,3.5\n", "rows are missing: "}}) {
      const Trainer trainer{.model = header + rows};
      Baseline baseline(trainer.Undisturbed(), trainer.Undisturbed());
      Evidence restarted = trainer.Undisturbed();
      restarted.objects["job/out/model"].bytes = early;
      baseline.Learn(restarted);
      Evidence run = trainer.Restarted(4);
      run.objects["job/out/model"].bytes = found;
      const std::vector<Flaw> flaws = CompareRecovery(baseline, trainer.Point(), run);
      ASSERT_THAT(CausesOf(flaws), ElementsAre("objects have different contents: job/out/model"))
          << found;
      EXPECT_THAT(flaws[0].found, StartsWith(damage));
    }
  }
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

TEST(RecoveryComparison, DoubtsNumbersThatDriftBesideACount) {
  EXPECT_THAT(CausesIfAnEarlyRestartChanges("{\"starts\":1,\"boots\":1,\"loss\":0.123456789}",
                                            "{\"starts\":2,\"boots\":2,\"loss\":0.123456789}",
                                            "{\"starts\":2,\"boots\":2,\"loss\":0.123456788}"),
              ElementsAre("? objects have different contents: job/out/model"));
}

TEST(RecoveryComparison, IsSureOfJsonThatIsCutShortIfAnEarlyRestartChangesItToo) {
  for (const char* late : {"{\"starts\": [\"a\", \"a\"], \"w\": [0.", ""}) {
    EXPECT_THAT(CausesIfAnEarlyRestartChanges("{\"starts\": [\"a\"], \"w\": [0.5]}",
                                              "{\"starts\": [\"a\", \"a\"], \"w\": [0.5]}", late),
                ElementsAre("objects have different contents: job/out/model"))
        << late;
  }
}

// A padded file has the same size with one entry more: a table, an archive.
TEST(RecoveryComparison, DoubtsAnEntryForEachStartInAPaddedFile) {
  std::string once =
      "\xff"
      "entry 1\n";
  once.resize(4096, '\0');
  std::string twice = once;
  twice.replace(600, 150, std::string(150, 'e'));
  EXPECT_THAT(CausesIfAnEarlyRestartChanges(once, twice, twice),
              ElementsAre("? objects have different contents: job/out/model"));
}

TEST(RecoveryComparison, DoubtsACountOfTheStartsOfAllReplicas) {
  const Trainer trainer;
  Evidence run = trainer.Undisturbed();
  run.objects["job/out/starts"] = {"{\"starts\": 4}", 1};
  Evidence early = run;
  early.objects["job/out/starts"].bytes = "{\"starts\": 5}";
  for (const size_t others : {0, 3}) {
    Evidence all = run;
    for (size_t i = 0; i < others; ++i) {
      all.events.insert(all.events.begin(), Start("worker-" + std::to_string(i), 1));
    }
    Baseline baseline(all, all);
    baseline.Learn(early);
    EXPECT_EQ(baseline.starts(), others + 1);
    const std::string doubt = others > 0 ? "? " : "";
    EXPECT_THAT(CausesOf(CompareRecovery(baseline, trainer.Point(), early)),
                ElementsAre(doubt + "objects have different contents: job/out/starts"));
  }
}

TEST(RecoveryComparison, DoubtsACountBesideAValueThatAnEarlyRestartChanges) {
  EXPECT_THAT(CausesIfAnEarlyRestartChanges("{\"w\": 0.5, \"starts\": 1, \"step\": 6}",
                                            "{\"w\": 0.25, \"starts\": 2, \"step\": 6}",
                                            "{\"w\": 0.5, \"starts\": 2, \"step\": 6}"),
              ElementsAre("? objects have different contents: job/out/model"));
}

// One of the objects that share a pattern holds a learned value, another one a count of starts.
TEST(RecoveryComparison, ComparesObjectsWhosePatternAlsoCountsStarts) {
  const Trainer trainer;
  Evidence run = trainer.Undisturbed();
  run.objects["job/out/part-1"] = {"1", 1};
  run.objects["job/out/part-2"] = {"{\"w\": 0.5}", 1};
  Baseline baseline(run, run);
  Evidence early = run;
  early.objects["job/out/part-1"].bytes = "2";
  early.objects["job/out/part-2"].bytes = "{\"w\": 0.25}";
  baseline.Learn(early);
  EXPECT_THAT(baseline.counting_patterns(), IsEmpty());
  EXPECT_THAT(CausesOf(CompareRecovery(baseline, trainer.Point(), early)),
              ElementsAre("objects have different contents: job/out/part-#"));
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
