// The check of how often a trainer saves its state.

#include "harness/check/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "harness/check/restart_point.h"
#include "harness/check/run_evidence.h"
#include "tests/harness/check/check_sessions.h"

namespace caip::harness {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(CheckpointsCheck, ShowsTheWritesOfAllReplicas) {
  ASession session;
  session.With(0, Live("master-0", 1));
  session.With(99, Storage("worker-0", 1, "create", "job/out/model"));
  session.With(100, Exit("master-0", 1)).Ends("SUCCEEDED");
  const CheckResult result = EvaluateCheck(*FindCheck("restart/checkpoints"), *session);
  EXPECT_EQ(result.found, "nothing was saved before the training was over");
  EXPECT_THAT(result.evidence, ElementsAre(HasSubstr("job/out/model")));
}

TEST(CheckpointsCheck, ComparesTheLongestIntervalWithALifetimeAndALimit) {
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
      {{25, 50, 75}, seconds(20), {}, "", CheckVerdict::kFail, "a machine lives"},
      {{50}, hours(4), hours(10), "", CheckVerdict::kFail, "that is 5h 00m"},
      {{25, 50, 75}, hours(4), hours(10), "", CheckVerdict::kPass, "that is 2h 30m"},
      {{50}, hours(4), {}, "36000s", CheckVerdict::kFail, "in a job of 10h 00m"},
      {{50}, hours(4), hours(10), "7200s", CheckVerdict::kFail, "maxRunningTime ends the job"},
      {{1}, hours(40), {}, "10s", CheckVerdict::kPass, ""},
  };
  for (const Row& row : rows) {
    ASession session = Saves(row.saves, 100);
    session->trainer.vm_lifetime = row.lifetime;
    session->trainer.real_duration = row.real;
    if (!row.limit.empty()) {
      session->trainer.job.document["scheduling"] = {{"maxRunningTime", row.limit}};
    }
    const CheckResult result = EvaluateCheck(*FindCheck("restart/checkpoints"), *session);
    EXPECT_EQ(Name(result.verdict), Name(row.verdict)) << result.found;
    EXPECT_THAT(result.found, HasSubstr(row.found));
  }
}

TEST(CheckpointsCheck, CountsTheSavesOfAllReplicas) {
  ASession session;
  session.With(0, Live("master-0", 1)).With(50, Storage("worker-0", 1, "create", "job/out/ckpt"));
  session.With(90, Step("master-0", 1, 100)).With(100, Exit("master-0", 1)).Ends("SUCCEEDED");
  EXPECT_EQ(EvaluateCheck(*FindCheck("restart/checkpoints"), *session).verdict,
            CheckVerdict::kPass);
}

TEST(CheckpointsCheck, IgnoresSummaries) {
  ASession session;
  session.With(0, Live("master-0", 1)).With(1, Saved("events.out.tfevents.1.host"));
  session.With(2, Step("master-0", 1, 1)).With(3, Exit("master-0", 1)).Ends("SUCCEEDED");
  EXPECT_EQ(EvaluateCheck(*FindCheck("restart/checkpoints"), *session).verdict,
            CheckVerdict::kFail);
}

TEST(CheckpointsCheck, IgnoresAConfigurationThatIsWrittenBeforeTheFirstStep) {
  const auto verdict = [](const std::string& before, const std::string& later) {
    ASession session;
    session.With(0, Live("master-0", 1)).With(1, Saved(before)).With(2, Step("master-0", 1, 1));
    session.With(3, Saved(later)).With(4, Step("master-0", 1, 2));
    session.With(5, Exit("master-0", 1)).Ends("SUCCEEDED");
    return EvaluateCheck(*FindCheck("restart/checkpoints"), *session).verdict;
  };
  EXPECT_EQ(verdict("config.json", "events.out.tfevents.1.host"), CheckVerdict::kFail);
  EXPECT_EQ(verdict("ckpt-0", "ckpt-1"), CheckVerdict::kPass);
}

/// The verdict on a run of 100 seconds of a trainer that reports no steps.
CheckVerdict VerdictOnSaves(const std::vector<std::pair<int64_t, Event>>& events) {
  ASession session;
  session.With(0, Live("master-0", 1));
  for (const auto& [second, event] : events) session.With(second, event);
  session.With(100, Exit("master-0", 1)).Ends("SUCCEEDED");
  return EvaluateCheck(*FindCheck("restart/checkpoints"), *session).verdict;
}

TEST(CheckpointsCheck, CountsSavesInTheLastTenthThatAreMadeAgain) {
  const Event line = Line("master-0", 1, "an epoch");
  EXPECT_EQ(VerdictOnSaves({{95, Saved("ckpt")}, {97, Saved("ckpt")}, {99, Saved("ckpt")}}),
            CheckVerdict::kPass);
  EXPECT_EQ(VerdictOnSaves({{95, Saved("ckpt.tmp")},
                            {95, Renamed("ckpt.tmp", "ckpt")},
                            {97, Saved("ckpt.tmp")},
                            {97, Renamed("ckpt.tmp", "ckpt")}}),
            CheckVerdict::kPass);
  EXPECT_EQ(VerdictOnSaves({{95, Saved("x7f.tmp")},
                            {95, Renamed("x7f.tmp", "ckpt")},
                            {97, Saved("yab.tmp")},
                            {97, Renamed("yab.tmp", "ckpt")}}),
            CheckVerdict::kPass);
  EXPECT_EQ(VerdictOnSaves({{94, line}, {95, Saved("ckpt-1")}, {96, line}, {97, Saved("ckpt-2")}}),
            CheckVerdict::kPass);
}

TEST(CheckpointsCheck, TakesTheResultForNoSave) {
  const Event line = Line("master-0", 1, "saved a part");
  EXPECT_EQ(VerdictOnSaves({{99, Saved("model")}}), CheckVerdict::kFail);
  EXPECT_EQ(VerdictOnSaves({{1, Storage("master-0", 1, "mkdir", "job/out")}, {99, Saved("model")}}),
            CheckVerdict::kFail);
  EXPECT_EQ(VerdictOnSaves({{99, Saved("model.tmp")}, {99, Renamed("model.tmp", "model")}}),
            CheckVerdict::kFail);
  EXPECT_EQ(VerdictOnSaves({{98, line}, {99, Saved("m-1")}, {99, Saved("m-2")}, {99, line}}),
            CheckVerdict::kFail)
      << "parts of one result";
  EXPECT_EQ(VerdictOnSaves({{98, Saved("m-1-of-2")}, {98, line}, {99, Saved("m-2-of-2")}}),
            CheckVerdict::kFail);
  EXPECT_EQ(VerdictOnSaves({{95, Saved("metrics.csv")}, {98, line}, {99, Saved("model")}}),
            CheckVerdict::kFail);
  EXPECT_EQ(VerdictOnSaves(
                {{97, Saved("model")}, {99, Storage("worker-0", 1, "create", "job/out/model")}}),
            CheckVerdict::kFail)
      << "each replica writes its result once";
}

TEST(CheckpointsCheck, CountsAFileThatIsRenamedOnce) {
  ASession session;
  session.With(0, Live("master-0", 1));
  for (const int64_t second : {20, 40, 60, 80}) {
    session.With(second, Saved("ckpt.tmp")).With(second, Renamed("ckpt.tmp", "ckpt"));
  }
  session.With(100, Exit("master-0", 1)).Ends("SUCCEEDED");
  EXPECT_THAT(EvaluateCheck(*FindCheck("restart/checkpoints"), *session).found,
              HasSubstr("4 saves, at most 20.0s apart"));
  const auto writes = WritesOf(session->Run("plain"), "master-0");
  ASSERT_EQ(writes.size(), 4u);
  EXPECT_EQ(Shown(writes[0]), "create job/out/ckpt.tmp by master-0, renamed to job/out/ckpt");
}

TEST(CheckpointsCheck, ExplainsTheMeasureToTrainersWithoutSteps) {
  ASession session;
  session.With(0, Live("master-0", 1)).With(99, Saved("model"));
  session.With(100, Exit("master-0", 1)).Ends("SUCCEEDED");
  const CheckKind& check = *FindCheck("restart/checkpoints");
  EXPECT_THAT(EvaluateCheck(check, *session).advice, HasSubstr("give the trainer more to do"));
  EXPECT_THAT(EvaluateCheck(check, *Saves({}, 100)).advice, Not(HasSubstr("more to do")));
}

}  // namespace
}  // namespace caip::harness
