#include "ml/run_texts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ml/to_run_spec.h"
#include "ml/training_job.h"
#include "tests/ml/a_job.h"

namespace caip::ml::texts {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr ReplicaId kMaster0 = {Role::kMaster, 0};
constexpr ReplicaId kWorker0 = {Role::kWorker, 0};
constexpr ReplicaId kWorker1 = {Role::kWorker, 1};

constexpr char kSentence[] =
    "To find out more about why your job exited please check the logs: "
    "https://console.cloud.google.com/logs/viewer?project=622188232773"
    "&resource=ml_job%2Fjob_id%2Fcensus_1&advancedFilter=resource.type%3D%22ml_job%22%0A"
    "resource.labels.job_id%3D%22census_1%22";

std::string Message(const std::vector<ReplicaFailure>& failures) {
  return ReplicasFailed(failures, "622188232773", "census_1");
}

TEST(ReplicasFailed, ShowsTheTracebackOfOneReplica) {
  const std::string traceback =
      "Traceback (most recent call last):\n"
      "  File \"task.py\", line 1, in <module>\n"
      "    main()\n"
      "ValueError: no\n";
  EXPECT_EQ(
      Message({{.replica = kMaster0, .status = 1, .traceback = traceback}}),
      "The replica master 0 exited with a non-zero status of 1. \n" + traceback + "\n" + kSentence);
}

// docs/service/replica-environment.md, section 7
TEST(ReplicasFailed, ShowsTheTracebackOfAPythonPackageAndNotThatOfAContainer) {
  const run::ReplicaFailure failure{
      .replica = {"master", 0},
      .status = 1,
      .traceback = "Traceback (most recent call last):\nValueError: no\n"};
  const auto message = [&](const TrainingInput& input) {
    const TrainingJob job(input, ToRunSpec(input, {}), "622188232773");
    return job.ReplicaFailed(failure, {"demo", "census_1", ""});
  };
  EXPECT_THAT(message(*AJob().training_input), HasSubstr("ValueError: no"));
  EXPECT_EQ(message(*AContainerJob().training_input),
            std::string("The replica master 0 exited with a non-zero status of 1. "
                        "Termination reason: Error. ") +
                kSentence);
}

TEST(ReplicasFailed, SaysErrorWithoutATraceback) {
  EXPECT_EQ(Message({{.replica = kMaster0, .status = 1}}),
            std::string("The replica master 0 exited with a non-zero status of 1. "
                        "Termination reason: Error. ") +
                kSentence);
}

TEST(ReplicasFailed, NamesTheSignalBehindTheNumber) {
  EXPECT_THAT(Message({{.replica = kWorker1, .status = 9, .signal = 9}}),
              HasSubstr("The replica worker 1 exited with a non-zero status of 9(SIGKILL). "));
  EXPECT_THAT(Message({{.replica = kWorker1, .status = 139, .signal = 11}}),
              HasSubstr("non-zero status of 139(SIGSEGV). "));
}

TEST(ReplicasFailed, SaysWhenMemoryRanOut) {
  EXPECT_EQ(
      Message({{.replica = kMaster0, .status = 9, .signal = 9, .out_of_memory = true}}),
      std::string("The replica master 0 ran out-of-memory and exited with a non-zero status of "
                  "9(SIGKILL). ") +
          kSentence);
}

TEST(ReplicasFailed, NamesReplicasThatFailedAlikeInOneSentence) {
  EXPECT_EQ(Message({{.replica = kWorker0, .status = 1}, {.replica = kWorker1, .status = 1}}),
            std::string("The replicas worker 0, worker 1 exited with a non-zero status of 1. "
                        "Termination reason: Error. ") +
                kSentence);
}

TEST(ReplicasFailed, GivesDifferentFailuresASentenceEach) {
  EXPECT_EQ(Message({{.replica = kMaster0, .status = 1},
                     {.replica = kWorker0, .status = 2},
                     {.replica = kWorker1, .status = 1}}),
            std::string("The replicas master 0, worker 1 exited with a non-zero status of 1. "
                        "Termination reason: Error. "
                        "The replica worker 0 exited with a non-zero status of 2. "
                        "Termination reason: Error. ") +
                kSentence);
}

TEST(ReplicasFailed, ShortensALongTraceback) {
  std::string traceback = "Traceback (most recent call last):\n";
  for (int i = 0; i < 100; ++i) traceback += "  File \"task.py\", line 1, in f\n    f()\n";
  traceback += "RecursionError: deep\n";
  const std::string message = Message({{.replica = kMaster0, .status = 1, .traceback = traceback}});
  EXPECT_LT(message.size(), 2048u + 500u);
  EXPECT_THAT(message, HasSubstr("(most recent call last):\n  [...]\n  File "));
  EXPECT_THAT(message, HasSubstr("RecursionError: deep\n\nTo find out"));
}

TEST(ErrorMessages, AreTheAttestedOnes) {
  EXPECT_EQ(OutOfStock("us-central1"),
            "Resources are insufficient in region: us-central1. Try a different region or use a "
            "different accelerator.");
}

TEST(ErrorMessages, OfCancelsNameTheLimit) {
  EXPECT_THAT(WaitedTooLong(std::chrono::seconds(1800)),
              HasSubstr("scheduling.maxWaitTime (1800s)"));
  EXPECT_THAT(RanTooLong(std::chrono::milliseconds(1500)),
              HasSubstr("scheduling.maxRunningTime (1.5"));
}

TEST(ServiceLines, AreThoseOfTheRunTable) {
  EXPECT_EQ(ValidatingJob(), "Validating job requirements...");
  EXPECT_EQ(JobValidated(), "Job creation request has been successfully validated.");
  EXPECT_EQ(JobQueued("census_1"), "Job census_1 is queued.");
  EXPECT_EQ(WaitingForProvisioning(), "Waiting for job to be provisioned.");
  EXPECT_EQ(WaitingForProgram(), "Waiting for training program to start.");
  EXPECT_EQ(JobPreparing(), "Job is preparing.");
  EXPECT_EQ(JobRunning(), "Job is running.");
  EXPECT_EQ(TearingDown(), "Tearing down training program.");
  EXPECT_EQ(TornDown(), "Finished tearing down training program.");
  EXPECT_EQ(JobCompleted(), "Job completed successfully.");
  EXPECT_EQ(JobFailed(), "Job failed.");
  EXPECT_EQ(JobCancelled(), "Job cancelled.");
}

TEST(LauncherLines, AreThoseOfTheLauncher) {
  EXPECT_EQ(RunningModule("trainer.task"), "Running module trainer.task.");
  EXPECT_EQ(RunningCommand("python3 -m trainer.task"), "Running command: python3 -m trainer.task");
  EXPECT_EQ(ModuleCompleted(), "Module completed; cleaning up.");
  EXPECT_EQ(CleanedUp(), "Clean up finished.");
  EXPECT_EQ(TaskCompleted(), "Task completed successfully.");
  EXPECT_EQ(TerminatedByService(),
            "Terminated by service. If the job is supposed to continue running, it will be "
            "restarted on other VM shortly.");
}

}  // namespace
}  // namespace caip::ml::texts
