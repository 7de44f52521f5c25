#include "run/texts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace caip::run::texts {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(RunTexts, CountTheAttempts) {
  const ReplicaFailure failure = {.replica = {"worker", 0}, .status = 9, .signal = 9};
  EXPECT_EQ(RestartingReplica("worker 0", failure, 1, 5),
            "The replica worker 0 exited with a non-zero status of 9(SIGKILL). It is restarted "
            "(1 of 5).");
  EXPECT_EQ(ReplacingMachine("worker 0", 2, 5),
            "The machine of worker 0 is lost. The replica is restarted on another machine "
            "(2 of 5).");
  EXPECT_EQ(RetryingJob("worker 0", failure, 3, 3),
            "The job is tried again (3 of 3): the replica worker 0 exited with a non-zero status "
            "of 9(SIGKILL).");
  EXPECT_EQ(NoMachines("us-east1", 2), "No machines in region us-east1 (try 2 of 3).");
  EXPECT_EQ(CouldNotStart("master 0", "No such file or directory"),
            "The replica master 0 could not be started: No such file or directory");
  EXPECT_THAT(Seed(42), HasSubstr("42"));
  EXPECT_THAT(EmulatorRestarted(), Not(HasSubstr("error")));
}

TEST(RunTexts, ReportTheInstallationAsTheServiceDoes) {
  EXPECT_EQ(NoPackages(), "No packages to install.");
  EXPECT_EQ(DownloadingPackage("gs://b/t.tar.gz"), "Downloading the package: gs://b/t.tar.gz");
  EXPECT_EQ(InstallingPackage("gs://b/t.tar.gz"), "Installing the package: gs://b/t.tar.gz");
  EXPECT_EQ(RunningCommand("pip3 install --user t"), "Running command: pip3 install --user t");
}

TEST(RunTexts, NameTheSignalAfterTheStatus) {
  EXPECT_EQ(StatusInWords(1, 0), "1");
  EXPECT_EQ(StatusInWords(137, 9), "137(SIGKILL)");
}

}  // namespace
}  // namespace caip::run::texts
