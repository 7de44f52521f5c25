#include "run/replica_outcome.h"

#include <gtest/gtest.h>

#include <string>

namespace caip::run {
namespace {

// The page's rules, said again as a person would: the table must agree for every combination.
Decision Wanted(bool leads, ExitClass how, const Attempts& used, bool whole_job) {
  const bool may_restart = used.replica_restarts < 5 && !whole_job;
  switch (how) {
    case ExitClass::kSuccess:
      return leads ? Decision::kSucceedJob : Decision::kIgnore;
    case ExitClass::kUserFailure:
    case ExitClass::kOutOfMemory:
    case ExitClass::kCouldNotStart:
    case ExitClass::kNotPrepared:
      return Decision::kFailJob;
    case ExitClass::kTransient:
      return used.job_retries < 3 ? Decision::kRetryJob : Decision::kFailJob;
    case ExitClass::kServiceError:
      return used.job_retries < 2 ? Decision::kRetryJob : Decision::kFailJob;
    case ExitClass::kKilled:
    case ExitClass::kVmLost:
      if (may_restart) return Decision::kRestartReplica;
      return used.job_retries < 3 ? Decision::kRetryJob : Decision::kFailJob;
  }
  return Decision::kIgnore;
}

TEST(Decide, IsThePagesRuleForEveryEndAndCountOfAttempts) {
  int combinations = 0;
  for (const bool leads : {true, false}) {
    for (ExitClass how : kExitClasses) {
      for (int restarts = 0; restarts <= 6; ++restarts) {
        for (int retries = 0; retries <= 4; ++retries) {
          for (const bool whole_job : {false, true}) {
            const Attempts used = {restarts, retries};
            EXPECT_EQ(Decide(leads, how, used, {.restarts_whole_job = whole_job}),
                      Wanted(leads, how, used, whole_job))
                << "lead " << leads << ", " << Name(how) << ", " << restarts << " restarts, "
                << retries << " retries, whole job " << whole_job;
            ++combinations;
          }
        }
      }
    }
  }
  EXPECT_EQ(combinations, 2 * 9 * 7 * 5 * 2);
}

TEST(Decide, FollowsThePolicyOfTheRun) {
  const RestartPolicy never = {.replica_restarts_max = 0, .job_retries_max = 0};
  EXPECT_EQ(Decide(false, ExitClass::kKilled, {}, never), Decision::kFailJob);
  const RestartPolicy often = {.replica_restarts_max = 0, .job_retries_max = 6};
  EXPECT_EQ(Decide(false, ExitClass::kVmLost, {0, 5}, often), Decision::kRetryJob);
  EXPECT_EQ(Decide(false, ExitClass::kVmLost, {0, 6}, often), Decision::kFailJob);
}

TEST(Decide, MayRestartTheWholeJobForALostMachineWithoutAJobRetry) {
  const RestartPolicy spot = {.job_retries_max = 3, .job_restarts_after_loss_max = 6};
  struct LossRow {
    ExitClass how;
    Attempts used;
    Decision decision;
  };
  const LossRow rows[] = {
      {ExitClass::kVmLost, {}, Decision::kRetryJob},
      {ExitClass::kVmLost, {.job_retries = 3, .loss_restarts = 5}, Decision::kRetryJob},
      {ExitClass::kVmLost, {.loss_restarts = 6}, Decision::kFailJob},
      {ExitClass::kTransient, {.loss_restarts = 6}, Decision::kRetryJob},
      {ExitClass::kTransient, {.job_retries = 3}, Decision::kFailJob},
      {ExitClass::kKilled, {.loss_restarts = 6}, Decision::kRestartReplica},
  };
  for (const LossRow& row : rows) {
    for (const bool leads : {true, false}) {
      EXPECT_EQ(Decide(leads, row.how, row.used, spot), row.decision) << Name(row.how);
    }
  }
}

TEST(Decide, EndsEveryJobThatFailsAgainAndAgain) {
  for (const bool leads : {true, false}) {
    for (ExitClass how : kExitClasses) {
      if (how == ExitClass::kSuccess) continue;
      Attempts used;
      int ends = 0;
      for (; ends < 100; ++ends) {
        const Decision decision = Decide(leads, how, used);
        if (decision == Decision::kFailJob) break;
        if (decision == Decision::kRestartReplica) ++used.replica_restarts;
        if (decision == Decision::kRetryJob) used = {0, used.job_retries + 1};
      }
      const bool restarts = how == ExitClass::kKilled || how == ExitClass::kVmLost;
      EXPECT_LE(ends, 23) << Name(how);
      if (restarts) {
        EXPECT_EQ(ends, 4 * 6 - 1) << Name(how);  // four tries of six starts each
      }
    }
  }
}

struct ExitCase {
  int exit_code;
  int signal;
  ExitClass python;
  ExitClass container;
};

TEST(Classify, TellsUserCodeFromFaults) {
  constexpr ExitClass kUser = ExitClass::kUserFailure;
  constexpr ExitClass kTransient = ExitClass::kTransient;
  constexpr ExitClass kKilled = ExitClass::kKilled;
  const ExitCase cases[] = {
      {0, 0, ExitClass::kSuccess, ExitClass::kSuccess},
      {1, 0, kUser, kUser},
      {2, 0, kUser, kUser},
      {9, 0, kUser, kUser},
      {6, 0, kTransient, kUser},
      {11, 0, kTransient, kUser},
      {127, 0, kUser, kUser},
      {128, 0, kUser, kUser},
      {134, 0, kTransient, kTransient},
      {139, 0, kTransient, kTransient},
      {137, 0, kUser, kKilled},
      {143, 0, kUser, kKilled},
      {192, 0, kUser, kKilled},
      {193, 0, kUser, kUser},
      {255, 0, kUser, kUser},
      {0, 6, kTransient, kTransient},
      {0, 11, kTransient, kTransient},
      {0, 9, kKilled, kKilled},
      {0, 15, kKilled, kKilled},
      {0, 13, kKilled, kKilled},
  };
  for (const ExitCase& c : cases) {
    const ReplicaEnd end = {.exit_code = c.exit_code, .signal = c.signal};
    EXPECT_EQ(Name(Classify(end, false)), Name(c.python)) << c.exit_code << "/" << c.signal;
    EXPECT_EQ(Name(Classify(end, true)), Name(c.container)) << c.exit_code << "/" << c.signal;
  }
}

TEST(Classify, BelievesTheEmulatorBeforeTheExitStatus) {
  EXPECT_EQ(Classify({.signal = 9, .vm_lost = true}, false), ExitClass::kVmLost);
  EXPECT_EQ(Classify({.exit_code = 0, .vm_lost = true}, false), ExitClass::kVmLost);
  EXPECT_EQ(Classify({.signal = 9, .out_of_memory = true}, false), ExitClass::kOutOfMemory);
  EXPECT_EQ(Classify({.could_not_start = true}, true), ExitClass::kCouldNotStart);
}

TEST(ReportedExitCode, IsTheSignalForPythonAnd128MoreForContainers) {
  EXPECT_EQ(ReportedExitCode(false, 0, 9), 9);
  EXPECT_EQ(ReportedExitCode(true, 0, 9), 137);
  EXPECT_EQ(ReportedExitCode(false, 3, 0), 3);
  EXPECT_EQ(ReportedExitCode(true, 137, 0), 137);
}

TEST(SignalName, IsLinuxsName) {
  EXPECT_EQ(SignalName(1), "SIGHUP");
  EXPECT_EQ(SignalName(6), "SIGABRT");
  EXPECT_EQ(SignalName(9), "SIGKILL");
  EXPECT_EQ(SignalName(10), "SIGUSR1");
  EXPECT_EQ(SignalName(11), "SIGSEGV");
  EXPECT_EQ(SignalName(13), "SIGPIPE");
  EXPECT_EQ(SignalName(15), "SIGTERM");
  EXPECT_EQ(SignalName(31), "SIGSYS");
  EXPECT_EQ(SignalName(0), "");
  EXPECT_EQ(SignalName(40), "");
}

}  // namespace
}  // namespace caip::run
