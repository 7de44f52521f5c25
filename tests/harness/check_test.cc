#include "harness/check/check.h"

#include <gmock/gmock.h>

#include <set>

#include "harness/check/check_report.h"
#include "harness/check/evidence_lines.h"
#include "harness/check/failure_cause.h"
#include "harness/check/restart_point.h"
#include "tests/harness/run_of.h"

namespace caip::harness {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A course of one plain run of a master.
class ACourse {
 public:
  ACourse() {
    course_.trainer.job.training_input = {{"scaleTier", "BASIC"},
                                          {"region", "us-central1"},
                                          {"runtimeVersion", "2.11"},
                                          {"pythonModule", "trainer.task"}};
    course_.runs["plain"].launched.push_back({"master-0", 1, {}, {}});
  }
  /// Each at its second; the master is up at 0.
  ACourse& With(int64_t second, Event event) {
    Evidence& evidence = course_.runs["plain"].evidence;
    event.time = Instant{} + seconds(second);
    event.number = static_cast<int64_t>(evidence.events.size()) + 1;
    evidence.events.push_back(std::move(event));
    return *this;
  }
  ACourse& Ends(const std::string& state) {
    course_.runs["plain"].evidence.state = state;
    return *this;
  }
  Course& operator*() { return course_; }
  Course* operator->() { return &course_; }

 private:
  Course course_;
};

Event Saved(const std::string& object) {
  return Storage("master-0", 1, "create", "job/out/" + object);
}

ACourse Saves(const std::vector<int64_t>& at, int64_t end) {
  ACourse course;
  course.With(0, Live("master-0", 1));
  for (const int64_t second : at) {
    course.With(second, Saved("ckpt-" + std::to_string(second)));
  }
  course.With(end, Step("master-0", 1, 100)).With(end, Saved("export/model"));
  course.With(end, Exit("master-0", 1)).Ends("SUCCEEDED");
  return course;
}

TEST(Checks, HaveUniqueIdsWithAChapterAndRunsThatThereAre) {
  std::set<std::string> ids;
  for (const CheckKind& check : CheckKinds()) {
    EXPECT_TRUE(ids.insert(check.id).second) << check.id;
    EXPECT_EQ(std::count(check.id.begin(), check.id.end(), '/'), 1) << check.id;
    EXPECT_TRUE(check.sentence.ends_with(".")) << check.id;
    EXPECT_FALSE(check.source.empty()) << check.id;
    for (const std::string& run : check.runs) EXPECT_TRUE(FindCourseRun(run)) << run;
  }
}

TEST(CourseRuns, StandBehindThoseThatTheyAreAfter) {
  std::set<std::string> before;
  for (const CourseRunKind& kind : CourseRunKinds()) {
    for (const std::string& name : kind.after) EXPECT_TRUE(before.contains(name)) << kind.name;
    before.insert(kind.name);
  }
}

TEST(CourseRuns, AreThoseThatTheChosenChecksLookAt) {
  const CheckKind stop = StopWithMasterCheck();
  std::vector<std::string> names;
  for (const CourseRunKind* kind : RunsFor({&stop})) names.push_back(kind->name);
  EXPECT_THAT(names, ElementsAre("plain", "chief"));
}

TEST(CourseRuns, NeedAJobThatSucceedsInPeace) {
  ACourse course;
  course.Ends("FAILED");
  for (const CourseRunKind& kind : CourseRunKinds()) {
    if (kind.name == "plain" || kind.name == "packages") continue;
    EXPECT_THAT(kind.plan(*course).skip, HasSubstr("does not succeed")) << kind.name;
  }
}

TEST(CourseRuns, OfASingleReplicaGetEveryRole) {
  ACourse course = Saves({10, 20}, 30);
  const Json chief = FindCourseRun("chief")->plan(*course).scenario.training_input;
  EXPECT_EQ(StringOr(chief, "workerCount"), "2");
  EXPECT_EQ(StringOr(chief, "evaluatorCount"), "1");
  EXPECT_EQ(StringOr(chief, "runtimeVersion"), "2.11");
  const Json master = FindCourseRun("master")->plan(*course).scenario.training_input;
  EXPECT_FALSE(master.contains("evaluatorCount"));
  EXPECT_EQ(StringOr(master, "runtimeVersion"), "1.15");
}

TEST(CourseRuns, OfAClusterKeepIt) {
  ACourse course = Saves({10, 20}, 30);
  Json& input = course->trainer.job.training_input;
  input["scaleTier"] = "CUSTOM";
  input["masterType"] = input["workerType"] = "n1-standard-8";
  input["workerCount"] = "3";
  EXPECT_EQ(FindCourseRun("chief")->plan(*course).scenario.training_input, input);
}

TEST(CheckedRestart, ComesBehindAStepWithSomethingSavedBefore) {
  ACourse course;
  course.With(0, Live("master-0", 1)).With(1, Step("master-0", 1, 1));
  course.With(2, Step("master-0", 1, 2)).With(2, Saved("ckpt-2"));
  for (int64_t step = 3; step <= 6; ++step) course.With(step, Step("master-0", 1, step));
  EXPECT_EQ(Describe(*MiddleOf(course->Of("plain"))), "after step 4 of master-0");
}

TEST(CheckedRestart, ComesBehindAWriteOfATrainerThatReportsNoSteps) {
  ACourse course;
  course.With(0, Live("master-0", 1)).With(1, Saved("a")).With(2, Saved("b")).With(3, Saved("c"));
  EXPECT_EQ(Describe(*MiddleOf(course->Of("plain"))), "after create job/out/b by master-0");
  EXPECT_FALSE(MiddleOf(ACourse()->Of("plain")));
}

TEST(CheckpointsCheck, HoldsTheLongestDistanceAgainstALifetimeAndALimit) {
  struct Row {
    std::vector<int64_t> saves;  // in a run of 100 seconds
    Duration lifetime;
    std::optional<Duration> real;
    std::string limit;  // maxRunningTime
    CheckVerdict verdict;
    std::string found;
  };
  const Row rows[] = {
      {{25, 50, 75}, hours(4), {}, "", CheckVerdict::kPass, "3 saves, at most 25.0s apart"},
      {{}, hours(4), {}, "", CheckVerdict::kFail, "nothing was saved before"},
      {{25, 50, 75}, seconds(20), {}, "", CheckVerdict::kFail, "a machine stays"},
      {{50}, hours(4), hours(10), "", CheckVerdict::kFail, "that is 5h 00m"},
      {{25, 50, 75}, hours(4), hours(10), "", CheckVerdict::kPass, "that is 2h 30m"},
      {{50}, hours(4), {}, "36000s", CheckVerdict::kFail, "in a job of 10h 00m"},
      {{50}, hours(4), hours(10), "7200s", CheckVerdict::kFail, "maxRunningTime ends it"},
      {{1}, hours(40), {}, "10s", CheckVerdict::kPass, ""},
  };
  for (const Row& row : rows) {
    ACourse course = Saves(row.saves, 100);
    course->trainer.vm_lifetime = row.lifetime;
    course->trainer.real_duration = row.real;
    if (!row.limit.empty()) {
      course->trainer.job.training_input["scheduling"] = {{"maxRunningTime", row.limit}};
    }
    const Ruling ruling = JudgeCheck(CheckpointsCheck(), *course);
    EXPECT_EQ(Name(ruling.verdict), Name(row.verdict)) << ruling.found;
    EXPECT_THAT(ruling.found, HasSubstr(row.found));
  }
}

TEST(CheckpointsCheck, TakesNoSummaryForACheckpoint) {
  ACourse course;
  course.With(0, Live("master-0", 1)).With(1, Saved("events.out.tfevents.1.host"));
  course.With(2, Step("master-0", 1, 1)).With(3, Exit("master-0", 1)).Ends("SUCCEEDED");
  EXPECT_EQ(JudgeCheck(CheckpointsCheck(), *course).verdict, CheckVerdict::kFail);
}

TEST(FailureCause, IsReadFromTheWordsOfManyFlagParsers) {
  const std::pair<const char*, FailureCause> rows[] = {
      {"task.py: error: unrecognized arguments: --job-dir gs://b/o", FailureCause::kJobDirFlag},
      {"Error: No such option: --job-dir", FailureCause::kJobDirFlag},
      {"FATAL Flags parsing error: Unknown command line flag 'job-dir'", FailureCause::kJobDirFlag},
      {"getopt.GetoptError: option --job-dir not recognized", FailureCause::kJobDirFlag},
      {"ERROR: Could not consume arg: --job-dir", FailureCause::kJobDirFlag},
      {"task.py: error: unrecognized arguments: --epochs 3", FailureCause::kOther},
      {"ModuleNotFoundError: No module named 'trainer.model'", FailureCause::kPackage},
      {"/usr/bin/python3: No module named trainer.task", FailureCause::kPackage},
      {"ValueError: no data", FailureCause::kOther},
  };
  for (const auto& [line, cause] : rows) {
    ACourse course;
    course.With(0, Line("master-0", 1, line, "ERROR")).With(1, Exit("master-0", 1, 2));
    course.Ends("FAILED");
    EXPECT_EQ(CauseOf(*course), cause) << line;
  }
  EXPECT_EQ(CauseOf(*ACourse().Ends("SUCCEEDED")), FailureCause::kNone);
}

TEST(CheckReport, ShowsFailuresFirstInColoursOnATerminal) {
  static const CheckKind good{"a/good", "It is good.", "page", {}, nullptr};
  static const CheckKind bad{"b/bad", "It is not bad.", "page", {}, nullptr};
  CheckReport report;
  report.outcomes = {{&good, Pass("well")}, {&bad, {CheckVerdict::kFail, "ill", {"line"}, "cure"}}};
  report.replay = "caip check --module-name t.t";
  report.replay_args = " -- --epochs 2";
  EXPECT_EQ(TextReport(report, {}),
            "FAIL     b/bad\n"
            "         It is not bad.\n"
            "         found: ill\n"
            "         | line\n"
            "         do:    cure\n"
            "         why:   page\n"
            "         again: caip check --module-name t.t --filter b/bad -- --epochs 2\n"
            "\n"
            "PASS     a/good                     well\n"
            "2 checks: 1 passed, 1 failed in 0.00s\n");
  EXPECT_THAT(TextReport(report, {true, false}), HasSubstr("\033[1;31mFAIL    \033[0m"));
}

TEST(LastLines, AreThoseOfTheLogEvenOfOneEntry) {
  ACourse course;
  course.With(0, Line("master-0", 1, "epoch 1"));
  course.With(1, Line("service", 0, "Job is running."));
  course.With(
      2, Line("master-0", 1, "Traceback (most recent call last):\n  File \"task.py\"\n\nIt broke\n",
              "ERROR"));
  course.With(3, Line("master-0", 1, "Clean up finished."));
  const CourseRun& run = course->Of("plain");
  EXPECT_THAT(LastLines(run, "", 10),
              ElementsAre("master-0: epoch 1", "master-0: Traceback (most recent call last):",
                          "master-0:   File \"task.py\"", "master-0: It broke"));
  EXPECT_THAT(LastLines(run, "master-0", 2),
              ElementsAre("master-0:   File \"task.py\"", "master-0: It broke"));
  EXPECT_THAT(LastLines(run, "worker-0", 2), ElementsAre());
}

}  // namespace
}  // namespace caip::harness
