// The report of `caip check`, and the lines of the trainer that it shows.

#include "harness/check/check_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/check/run_evidence.h"
#include "tests/harness/check/check_sessions.h"

namespace caip::harness {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

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

TEST(CheckReport, ShowsLineBreaksOfTheTrainerEscaped) {
  static const CheckKind bad{"b/bad", "It is not bad.", "page", {}, nullptr};
  static const CheckKind skipped{"b/skipped", "It is made.", "page", {}, nullptr};
  CheckReport report;
  report.outcomes = {{&bad, {CheckVerdict::kFail, "a\nb", {"expected x\n{\r\n}"}, "cure"}},
                     {&skipped, Skip("no\nreason")}};
  const std::string text = TextReport(report, {});
  EXPECT_THAT(text, HasSubstr("found: a\\nb\n"));
  EXPECT_THAT(text, HasSubstr("| expected x\\n{\\r\\n}\n"));
  EXPECT_THAT(text, HasSubstr("b/skipped                  no\\nreason\n"));
  EXPECT_THAT(TapReport(report), HasSubstr("    | expected x\\n{\\r\\n}\n"));
  EXPECT_THAT(GithubReport(report), HasSubstr("%0A| expected x\\n{\\r\\n}%0A"));
  EXPECT_EQ(JsonReport(report)["checks"][0]["found"], "a\nb") << "programs get the text itself";
}

TEST(LastLines, AreTheLastOfALogEntryWithManyLines) {
  ASession session;
  session.With(0, Line("master-0", 1, "epoch 1"));
  session.With(1, Line("service", 0, "Job is running."));
  session.With(
      2, Line("master-0", 1, "Traceback (most recent call last):\n  File \"task.py\"\n\nIt broke\n",
              "ERROR"));
  session.With(3, Line("master-0", 1, "Clean up finished."));
  const CheckRun& run = session->Run("plain");
  EXPECT_THAT(LastLines(run, "", 10),
              ElementsAre("master-0: epoch 1", "master-0: Traceback (most recent call last):",
                          "master-0:   File \"task.py\"", "master-0: It broke"));
  EXPECT_THAT(LastLines(run, "master-0", 2),
              ElementsAre("master-0:   File \"task.py\"", "master-0: It broke"));
  EXPECT_THAT(LastLines(run, "worker-0", 2), ElementsAre());
}

}  // namespace
}  // namespace caip::harness
