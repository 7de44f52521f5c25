// The restarts that checks make, and what they say of them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "harness/check/check.h"
#include "harness/check/restart_point.h"
#include "tests/harness/check/check_sessions.h"

namespace caip::harness {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(CheckedRestart, ComesAfterAStepWithASaveBeforeIt) {
  ASession session;
  session.With(0, Live("master-0", 1)).With(1, Step("master-0", 1, 1));
  session.With(2, Step("master-0", 1, 2)).With(2, Saved("ckpt-2"));
  for (int64_t step = 3; step <= 6; ++step) session.With(step, Step("master-0", 1, step));
  EXPECT_EQ(Describe(*FindMiddle(session->Run("plain"))), "after step 4 of master-0");
}

TEST(CheckedRestart, TakesANewDirectoryForNoSave) {
  ASession session;
  session.With(0, Live("master-0", 1)).With(0, Storage("master-0", 1, "mkdir", "job/out"));
  for (int64_t step = 1; step <= 8; ++step) {
    session.With(step, Step("master-0", 1, step));
    if (step == 6) session.With(step, Saved("ckpt-6"));
  }
  EXPECT_EQ(Describe(*FindMiddle(session->Run("plain"))), "after step 7 of master-0");
}

TEST(CheckedRestart, ComesAfterAWriteIfNoStepsAreReported) {
  ASession session;
  session.With(0, Live("master-0", 1)).With(1, Saved("a")).With(2, Saved("b")).With(3, Saved("c"));
  EXPECT_EQ(Describe(*FindMiddle(session->Run("plain"))), "after create job/out/b by master-0");
  EXPECT_FALSE(FindMiddle(ASession()->Run("plain")));
}

/// A run of a master that only exports the result, and of a worker that trains.
ASession WorkerTrains() {
  ASession session;
  session->runs["plain"].launched.push_back({"worker-0", 1, {}, {}});
  session.With(0, Live("master-0", 1)).With(0, Live("worker-0", 1));
  for (int64_t step = 1; step <= 6; ++step) {
    session.With(step, Step("worker-0", 1, step));
    session.With(step, Storage("worker-0", 1, "write", "job/out/ck"));
  }
  session.With(7, Saved("model")).With(7, Exit("worker-0", 1)).With(8, Exit("master-0", 1));
  session.Ends("SUCCEEDED");
  return session;
}

TEST(CheckedRestart, IsThatOfAWorkerIfTheMasterDoesNotTrain) {
  ASession session = WorkerTrains();
  EXPECT_FALSE(FindMiddle(session->Run("plain")));
  EXPECT_EQ(Describe(*FindRestartPoint(session->Run("plain"))), "after step 4 of worker-0");
  const RunPlan plan = FindCheckRun("maintenance")->plan(*session);
  EXPECT_EQ(plan.skip, "");
  ASSERT_EQ(plan.scenario.faults.size(), 2u);
  EXPECT_EQ(plan.scenario.faults.back().replica, "worker-0");
}

/// The worker gets SIGTERM after step 4, and its second boot begins at step `resumes`.
ASession WorkerIsRestarted(int64_t resumes, int exit_code) {
  ASession session = WorkerTrains();
  CheckRun run = session->runs["plain"];
  std::vector<Event>& events = run.evidence.events;
  events.clear();
  for (int64_t step = 1; step <= 4; ++step) {
    events.push_back(Step("worker-0", 1, step));
    events.push_back(Storage("worker-0", 1, "write", "job/out/ck"));
  }
  events.push_back(Exit("worker-0", 1, exit_code));
  for (int64_t step = resumes; step <= 6; ++step) events.push_back(Step("worker-0", 2, step));
  events.push_back(Exit("worker-0", 2));
  events.push_back(Exit("master-0", 1));
  session->runs["maintenance"] = std::move(run);
  return session;
}

TEST(CheckedRestart, OfAWorkerIsJudgedByItsOwnSteps) {
  const auto evaluate = [](const char* id, int64_t resumes, int exit_code = 143) {
    return EvaluateCheck(*FindCheck(id), *WorkerIsRestarted(resumes, exit_code));
  };
  EXPECT_EQ(evaluate("restart/resumes", 5).found, "boot 1 reached step 4, boot 2 began at 5");
  EXPECT_EQ(evaluate("restart/resumes", 5).verdict, CheckVerdict::kPass);
  EXPECT_EQ(evaluate("restart/resumes", 1).verdict, CheckVerdict::kFail);
  EXPECT_THAT(evaluate("restart/sigterm", 5).found, HasSubstr("6 steps done"));
  EXPECT_THAT(evaluate("restart/sigterm", 6).evidence, ElementsAre("not done: step 5"));
  EXPECT_EQ(evaluate("exit/sigterm", 5).verdict, CheckVerdict::kPass);
  EXPECT_EQ(evaluate("exit/sigterm", 5, 0).verdict, CheckVerdict::kFail);
}

TEST(ExploredCheck, IsEvaluatedForATrainerWithoutAMiddle) {
  const CheckKind& check = *FindCheck("restart/explored");
  ASession session = Saves({10, 20}, 30);
  session->runs["restarts"].restarts_tried = 12;
  EXPECT_EQ(EvaluateCheck(check, *session).verdict, CheckVerdict::kNotRun)
      << "maintenance is missing";
  session->runs["maintenance"].skipped = "there is no middle";
  EXPECT_EQ(EvaluateCheck(check, *session).verdict, CheckVerdict::kPass);
  session->runs["restarts"].flaws = {
      {"it fails", "after step 3", "SUCCEEDED", "FAILED", "f 1.yaml"}};
  session->trainer.repeated_flags = " --python /opt/python3";
  const CheckResult result = EvaluateCheck(check, *session);
  EXPECT_EQ(result.verdict, CheckVerdict::kFail);
  EXPECT_THAT(result.evidence,
              Contains("  again: caip scenario run 'f 1.yaml' --python /opt/python3"));
  session->runs["restarts"].repeated_flags = " --isolation process";
  EXPECT_THAT(EvaluateCheck(check, *session).evidence,
              Contains(HasSubstr("--python /opt/python3 --isolation process")));
  std::set<std::string> names;
  for (const CheckRunKind* kind : RunsFor({&check})) names.insert(kind->name);
  EXPECT_TRUE(names.contains("maintenance"));
}

TEST(SecondStartCheck, IsSkippedIfNoFailureWasTried) {
  ASession session;
  CheckRun& run = session->runs["restarts"];
  run.restarts_tried = 12;
  const CheckKind& check = *FindCheck("restart/second-start");
  EXPECT_EQ(EvaluateCheck(check, *session).verdict, CheckVerdict::kSkipped);
  EXPECT_THAT(EvaluateCheck(check, *session).found, HasSubstr("stores nothing"));
  run.failures_tried = 4;
  EXPECT_EQ(EvaluateCheck(check, *session).verdict, CheckVerdict::kPass);
  EXPECT_THAT(EvaluateCheck(check, *session).found, HasSubstr("4 failures"));
}

}  // namespace
}  // namespace caip::harness
