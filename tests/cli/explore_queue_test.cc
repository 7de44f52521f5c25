// Which restarts the explorer leaves out, because those like them ended by a limit.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <thread>
#include <vector>

#include "emulator/explore/causes.h"
#include "emulator/explore/confirmations.h"
#include "emulator/explore/explore_report.h"
#include "emulator/explore/task_queue.h"
#include "tests/harness/run_of.h"

namespace caip::explore {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

constexpr int64_t kStepsOfEach = 40;
constexpr char kHangs[] = "the job does not end";

/// Losses of the machines of a worker and of a chief, after each of their steps.
TaskList LossesAfterSteps(const std::string& worker = "worker-0",
                          const std::string& chief = "master-0") {
  harness::Evidence run;
  run.events = {harness::Start(worker, 1), harness::Start(chief, 1)};
  for (int64_t step = 1; step <= kStepsOfEach; ++step) {
    run.events.push_back(harness::Step(worker, 1, step));
    run.events.push_back(harness::Step(chief, 1, step));
  }
  run.events = harness::Numbered(std::move(run.events));
  RecordedRun recorded;
  recorded.points = harness::FindCrashPoints(run, {{"steps"}, {}, false});
  recorded.events = run.events;
  TaskList tasks;
  tasks.AddWhole(recorded, std::nullopt, Interruption::kMachineLost);
  return tasks;
}

ExploreOutcome Hangs() {
  ExploreOutcome outcome;
  outcome.flaws.push_back({kHangs, "SUCCEEDED", "limits.no_progress"});
  outcome.flaws.back().kind = harness::Flaw::Kind::kNoEnd;
  return outcome;
}

ExploreOutcome Fails() {
  ExploreOutcome outcome;
  outcome.flaws.push_back({"the job ends FAILED", "SUCCEEDED", "FAILED"});
  outcome.flaws.back().kind = harness::Flaw::Kind::kJobFails;
  return outcome;
}

using Trial = std::function<ExploreOutcome(const ExploreTask& task)>;

/// What was tried by so many workers, and what was left out.
struct Tried {
  std::set<size_t> tasks;
  std::map<std::string, size_t> left_out;
};

std::map<std::string, size_t> CountsOf(const std::vector<LeftOutKind>& kinds) {
  std::map<std::string, size_t> counts;
  for (const LeftOutKind& kind : kinds) counts[kind.cause] += kind.tasks.size();
  return counts;
}

Tried TryAll(const Trial& trial, int workers, bool tries_all = false,
             const TaskList& tasks = LossesAfterSteps()) {
  TaskQueue queue(tasks, tasks.MostDifferentFirst(0), tries_all);
  std::mutex mutex;
  Tried tried;
  const auto work = [&] {
    while (const auto next = queue.Next()) {
      const ExploreOutcome outcome = trial(tasks[*next]);
      {
        const std::lock_guard lock(mutex);
        EXPECT_TRUE(tried.tasks.insert(*next).second);
      }
      queue.Settle(*next, &outcome);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < workers; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  tried.left_out = CountsOf(queue.LeftOut());
  return tried;
}

ExploreOutcome WorkersHang(const ExploreTask& task) {
  return task.point.replica == "worker-0" ? Hangs() : ExploreOutcome{};
}

TEST(TaskQueue, LeavesOutWhatIsLikeFiveThatALimitEnded) {
  const Tried tried = TryAll(WorkersHang, 1);
  EXPECT_EQ(tried.tasks.size(), 5u + kStepsOfEach);
  EXPECT_THAT(tried.left_out, ElementsAre(Pair(kHangs, kStepsOfEach - 5)));
}

TEST(TaskQueue, LeavesOutTheSameForAnyNumberOfWorkers) {
  const auto most_hang = [](const ExploreTask& task) {
    return task.point.step % 5 == 0 ? Fails() : Hangs();
  };
  for (const Trial& trial : std::vector<Trial>{WorkersHang, most_hang}) {
    const Tried one = TryAll(trial, 1);
    EXPECT_THAT(one.left_out, Not(IsEmpty()));
    for (const int workers : {2, 3, 16}) {
      const Tried many = TryAll(trial, workers);
      EXPECT_EQ(many.tasks, one.tasks) << workers;
      EXPECT_EQ(many.left_out, one.left_out) << workers;
    }
  }
}

TEST(TaskQueue, TriesTheFirstAndTheLastOfThoseThatItLeavesOut) {
  const TaskList tasks = LossesAfterSteps();
  std::set<int64_t> steps;
  for (const size_t task : TryAll(WorkersHang, 2).tasks) {
    if (tasks[task].point.replica == "worker-0") steps.insert(tasks[task].point.step);
  }
  EXPECT_THAT(steps, ElementsAre(1, 10, 20, 30, 40));
}

TEST(TaskQueue, LeavesNothingOutThatEndsWithoutALimit) {
  const auto fails = [](const ExploreTask&) { return Fails(); };
  const auto seldom_hangs = [](const ExploreTask& task) {
    return task.point.step % 4 == 0 ? Hangs() : ExploreOutcome{};
  };
  for (const Trial& trial : std::vector<Trial>{fails, seldom_hangs}) {
    const Tried tried = TryAll(trial, 2);
    EXPECT_EQ(tried.tasks.size(), 2u * kStepsOfEach);
    EXPECT_THAT(tried.left_out, IsEmpty());
  }
}

TEST(TaskQueue, LeavesNothingOutIfAllAreAskedFor) {
  const Tried tried = TryAll(WorkersHang, 2, true);
  EXPECT_EQ(tried.tasks.size(), 2u * kStepsOfEach);
  EXPECT_THAT(tried.left_out, IsEmpty());
}

TEST(TaskQueue, DoesNotTryWhatIsKnown) {
  const TaskList tasks = LossesAfterSteps();
  const std::vector<size_t> order = tasks.MostDifferentFirst(0);
  TaskQueue queue(tasks, order, false);
  const ExploreOutcome hangs = Hangs();
  for (size_t i = 0; i < 10; ++i) queue.Settle(order[i], &hangs);  // five of each kind
  EXPECT_EQ(queue.Next(), std::nullopt);
  EXPECT_THAT(CountsOf(queue.LeftOut()), ElementsAre(Pair(kHangs, 2 * kStepsOfEach - 10)));
  for (const LeftOutKind& kind : queue.LeftOut()) {  // the worker's, and the chief's
    EXPECT_EQ(kind.tasks.size(), static_cast<size_t>(kStepsOfEach - 5));
    EXPECT_EQ(kind.shown_by.size(), 5u);
    const std::string& replica = tasks[kind.tasks.front()].point.replica;
    for (const size_t task : kind.shown_by) EXPECT_EQ(tasks[task].point.replica, replica);
  }
}

TEST(TaskQueue, LeavesOutNoReplicaWhoseLossHasNotHung) {
  const TaskList tasks = LossesAfterSteps("workerpool1-0", "workerpool0-0");
  const auto pool_hangs = [](const ExploreTask& task) {
    return task.point.replica == "workerpool1-0" ? Hangs() : ExploreOutcome{};
  };
  const Tried tried = TryAll(pool_hangs, 2, false, tasks);
  EXPECT_EQ(tried.tasks.size(), 5u + kStepsOfEach);
  const auto of_chief = std::ranges::count_if(
      tried.tasks, [&](size_t task) { return tasks[task].point.replica == "workerpool0-0"; });
  EXPECT_EQ(of_chief, kStepsOfEach);
  std::set<int64_t> steps;
  for (const size_t task : tried.tasks) {
    if (tasks[task].point.replica == "workerpool1-0") steps.insert(tasks[task].point.step);
  }
  EXPECT_THAT(steps, ElementsAre(1, 10, 20, 30, 40));
  EXPECT_THAT(tried.left_out, ElementsAre(Pair(kHangs, kStepsOfEach - 5)));
}

TEST(TaskQueue, EndsForWorkersThatWaitWhenItIsStopped) {
  const TaskList tasks = LossesAfterSteps();
  TaskQueue queue(tasks, tasks.MostDifferentFirst(0), false);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(queue.Next());  // those before all others
  std::thread waits([&queue] { EXPECT_EQ(queue.Next(), std::nullopt); });
  queue.Stop();
  waits.join();
}

Cause CauseOf(const std::string& name, const std::set<std::string>& also = {}) {
  Cause cause;
  cause.finding.flaw.cause = name;
  cause.finding.also = also;
  return cause;
}

TEST(LeftOut, BelongsToOneFinding) {
  std::vector<Cause> causes = {CauseOf("progress is lost", {kHangs}),
                               CauseOf("progress is ignored", {kHangs})};
  AddLeftOut({{kHangs, {1, 2}, {}}, {kHangs, {3}, {}}}, causes);
  EXPECT_EQ(causes[0].finding.left_out, 3u);
  EXPECT_EQ(causes[1].finding.left_out, 0u);
  causes.push_back(CauseOf(kHangs));
  AddLeftOut({{kHangs, {4, 5}, {}}}, causes);
  EXPECT_EQ(causes[0].finding.left_out, 3u);
  EXPECT_EQ(causes[2].finding.left_out, 2u) << "its own cause comes first";
}

/// Tasks of a worker and a chief of which five each have hung, so that the others were left out.
class ConfirmationsTest : public ::testing::Test {
 protected:
  ConfirmationsTest() {
    TaskQueue queue(tasks_, tasks_.MostDifferentFirst(0), false);
    while (const auto next = queue.Next()) {
      outcomes_[*next] = Hangs();
      queue.Settle(*next, &*outcomes_[*next]);
    }
    for (LeftOutKind& kind : queue.LeftOut()) {
      kinds_[tasks_[kind.tasks.front()].point.replica] = std::move(kind);
    }
  }
  bool IsRefuted(const std::string& replica) {
    return confirmations_.IsRefuted(kinds_.at(replica), tasks_, outcomes_,
                                    [this] { return obstacle_; });
  }
  /// A run alone. Only the loss of some replicas hangs.
  Result<harness::Evidence> Run(const ExploreTask& task) {
    runs_.push_back(task.point.replica);
    harness::Evidence run;
    if (hanging_.contains(task.point.replica)) run.broke_off = "limits.no_progress";
    run.state = "SUCCEEDED";
    return run;
  }
  Cause CauseOfHangs() const {
    std::vector<Cause> causes = FindCauses(tasks_, outcomes_, {});
    EXPECT_EQ(causes.size(), 1u);
    return causes.front();
  }

  const TaskList tasks_ = LossesAfterSteps();
  std::vector<std::optional<ExploreOutcome>> outcomes_ =
      std::vector<std::optional<ExploreOutcome>>(tasks_.size());
  std::map<std::string, LeftOutKind> kinds_;  // by replica
  std::set<std::string> hanging_;
  std::vector<std::string> runs_;
  std::string obstacle_;
  const harness::Baseline baseline_{{}, {}};
  Confirmations confirmations_{baseline_, [this](const ExploreTask& task) { return Run(task); }};
};

TEST_F(ConfirmationsTest, AreOfOneKindOnly) {
  hanging_ = {"worker-0"};
  EXPECT_FALSE(IsRefuted("worker-0"));
  EXPECT_TRUE(IsRefuted("master-0")) << "only the other replica hangs alone";
  EXPECT_THAT(runs_, ElementsAre("worker-0", "master-0", "master-0", "master-0"));
}

TEST_F(ConfirmationsTest, OfAKindConfirmItsCauseToo) {
  hanging_ = {"worker-0"};
  EXPECT_FALSE(IsRefuted("worker-0"));
  Cause cause = CauseOfHangs();
  confirmations_.Confirm(cause, [] { return ""; });
  EXPECT_EQ(cause.finding.flaw.doubt, "");
  EXPECT_EQ(cause.finding.point.replica, "worker-0");
  EXPECT_THAT(runs_, ElementsAre("worker-0")) << "one run is enough";
}

TEST_F(ConfirmationsTest, OfACauseThatDoesNotAppearAgainDoubtIt) {
  EXPECT_TRUE(IsRefuted("worker-0"));
  Cause cause = CauseOfHangs();
  confirmations_.Confirm(cause, [] { return ""; });
  EXPECT_THAT(cause.finding.flaw.doubt, HasSubstr("it did not appear again"));
}

TEST_F(ConfirmationsTest, RefuteNothingWithoutARun) {
  obstacle_ = kBudgetSpent;
  EXPECT_FALSE(IsRefuted("worker-0"));
  Cause cause = CauseOfHangs();
  confirmations_.Confirm(cause, [this] { return obstacle_; });
  EXPECT_THAT(cause.finding.remark, HasSubstr(kBudgetSpent));
  EXPECT_THAT(runs_, IsEmpty());
}

TEST(ExploreReport, SaysWhatWasLeftOut) {
  ExploreReport report;
  report.whole = 10;
  report.tried = 5;
  report.left_out = {{kHangs, 5}};
  ExploreFinding finding;
  finding.flaw = Hangs().flaws.front();
  finding.points = 5;
  finding.left_out = 5;
  report.findings = {finding};
  const Json json = JsonReport(report, {});
  EXPECT_EQ(json.at("tried"), 5);
  EXPECT_EQ(json.at("not_tried"), 5);
  EXPECT_EQ(json.at("findings").at(0).at("not_tried"), 5);
  EXPECT_THAT(json.at("ended").get<std::string>(), HasSubstr("--all-points"));
  EXPECT_THAT(JunitReport(report, {}), HasSubstr("skipped=\"1\""));
  EXPECT_THAT(JunitReport(report, {}), HasSubstr("5 points like it (--all-points tries them)"));
  EXPECT_THAT(SarifReport(report, {}).dump(), HasSubstr("not tried: 5 points like it"));
  report.ended = kBudgetSpent;
  EXPECT_EQ(WhyNotAll(report), std::string(kBudgetSpent) +
                                   "; 5 restarts are like others that only a limit ended "
                                   "(--all-points tries them)");
}

}  // namespace
}  // namespace caip::explore
