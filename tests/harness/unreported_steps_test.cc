// Steps that no line reports after a restart: those that were done, and those that are missing.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/explorer/recovery_comparison.h"
#include "tests/harness/recovery_runs.h"

namespace caip::harness {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

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

}  // namespace
}  // namespace caip::harness
