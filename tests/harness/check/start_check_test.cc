// The check of whether a job succeeds without faults, and the causes of failures.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/check/check.h"
#include "harness/check/run_evidence.h"
#include "tests/harness/check/check_sessions.h"

namespace caip::harness {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(StartCheck, NamesTheCheckThatExplainsTheFailure) {
  AJobWithoutAModule job("ModuleNotFoundError: No module named 'yaml.nodes'");
  EXPECT_EQ(job.Of("package/dependencies").verdict, CheckVerdict::kFail);
  EXPECT_EQ(job.Of("package/installed").verdict, CheckVerdict::kSkipped);
  EXPECT_EQ(job.Of("start/succeeds").found, "the job fails: see package/dependencies");
}

// The checks of packages and of --job-dir are not made for commands.
TEST(StartCheck, ExplainsTheFailureOfACommandItself) {
  for (const char* line : {"ModuleNotFoundError: No module named 'yaml'",
                           "train.py: error: unrecognized arguments: --job-dir out"}) {
    ASession session = Printed({{line, "ERROR"}});
    session->trainer.is_command = true;
    const CheckResult result = EvaluateCheck(*FindCheck("start/succeeds"), *session);
    EXPECT_EQ(result.verdict, CheckVerdict::kFail) << line;
    EXPECT_THAT(result.evidence, Contains(HasSubstr(line)));
    EXPECT_THAT(result.advice, Not(HasSubstr("--bucket"))) << "commands have no buckets";
  }
}

TEST(StartCheck, SaysThatAProgramCouldNotBeStarted) {
  ASession session;
  Event end = Exit("master-0", 1);
  BodyOf<ExitEvent>(end).lost = "cannot run 'trian': No such file or directory";
  session.With(0, end).Ends("FAILED");
  EXPECT_THAT(EvaluateCheck(*FindCheck("start/succeeds"), *session).evidence,
              ElementsAre("master-0 boot 1 could not be started: cannot run 'trian': No such file "
                          "or directory"));
}

TEST(FailureCause, IsFoundInTheMessagesOfManyFlagParsers) {
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
    ASession session;
    session.With(0, Line("master-0", 1, line, "ERROR")).With(1, Exit("master-0", 1, 2));
    session.Ends("FAILED");
    EXPECT_EQ(FindFailureCause(*session), cause) << line;
  }
  EXPECT_EQ(FindFailureCause(*ASession().Ends("SUCCEEDED")), FailureCause::kNone);
}

}  // namespace
}  // namespace caip::harness
