// docs/service/vertex.md, sections 4 and 6: texts about runs.

#include "vertex/run_texts.h"

#include <gtest/gtest.h>

namespace caip::vertex::texts {
namespace {

constexpr char kLogs[] =
    "To find out more about why your job exited please check the logs: "
    "https://console.cloud.google.com/logs/viewer?project=123456789012&resource=ml_job%2Fjob_id%2F"
    "4711&advancedFilter=resource.type%3D%22ml_job%22%0Aresource.labels.job_id%3D%224711%22";

std::string Failed(const run::ReplicaFailure& failure) {
  return ReplicaFailed("workerpool0-0", failure, "123456789012", "4711");
}

TEST(RunTexts, AFailureHasItsTracebackAndTheLogs) {
  EXPECT_EQ(Failed({.status = 1,
                    .traceback = "Traceback (most recent call last):\n  File \"x\"\nE: no\n"}),
            std::string("The replica workerpool0-0 exited with a non-zero status of 1. Termination "
                        "reason: Error. \nTraceback (most recent call last):\n  File \"x\"\nE: "
                        "no\n\n") +
                kLogs);
}

TEST(RunTexts, AFailureWithoutTracebackHasTheLogsOnly) {
  EXPECT_EQ(Failed({.status = 1}),
            std::string("The replica workerpool0-0 exited with a non-zero status of 1. ") + kLogs);
  EXPECT_EQ(
      Failed({.status = 137, .signal = 9}),
      std::string("The replica workerpool0-0 exited with a non-zero status of 137(SIGKILL). ") +
          kLogs);
}

TEST(RunTexts, ACommandThatCannotStartHasStatus128) {
  EXPECT_EQ(CouldNotStart("workerpool1-2", "no such file", "123456789012", "4711"),
            std::string("The replica workerpool1-2 exited with a non-zero status of 128. "
                        "Termination reason: StartError. \n Termination log message: no such "
                        "file\n\n") +
                kLogs);
}

TEST(RunTexts, NameTheReasonsOfAnEnd) {
  EXPECT_EQ(LowOnMemory("workerpool0"),
            "Replicas low on memory: workerpool0. Specify a machine with larger memory and try "
            "again.");
  EXPECT_EQ(OutOfStock("us-east1"),
            "Resources are insufficient in region: us-east1. Try a different region or use a "
            "different accelerator.");
  EXPECT_EQ(RanTooLong(std::chrono::hours(1)),
            "The job was cancelled because it ran longer than scheduling.timeout (3600s).");
}

TEST(RunTexts, ShowAFailedCommandAsPythonDoes) {
  EXPECT_EQ(CommandFailed({"python3", "-m", "t.task", "it's", "a\"b'c", "x\\\n"}, 1, 0),
            R"(Command '['python3', '-m', 't.task', "it's", 'a"b\'c', 'x\\\n']' returned )"
            "non-zero exit status 1.");
  EXPECT_EQ(CommandFailed({"python3"}, 9, 9),
            "Command '['python3']' died with <Signals.SIGKILL: 9>.");
  EXPECT_EQ(TaskFailed(1), "Task completed. Exit code (1). Exit reason (SUBPROCESS_EXCEPTION)");
}

}  // namespace
}  // namespace caip::vertex::texts
