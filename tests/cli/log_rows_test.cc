#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/json.h"
#include "emulator/cli/commands/follow.h"

namespace caip::cli {
namespace {

using namespace std::chrono_literals;

Json Entry(const std::string& task, const std::string& severity, const std::string& message) {
  return {{"severity", severity},
          {"timestamp", "2026-11-21T05:00:00.250000000Z"},
          {"task", task},
          {"message", message}};
}

class LogRows : public ::testing::Test {
 protected:
  void SetUp() override { ::setenv("TZ", "UTC", 1); }
};

TEST_F(LogRows, ArePlainAsGcloudPrintsThem) {
  EXPECT_EQ(PlainRows(Entry("worker-replica-3", "INFO", "step 1"), false),
            "INFO\t2026-11-21 05:00:00 +0000\tworker-replica-3\t\tstep 1\n");
}

TEST_F(LogRows, ShowTheTrialAndWordsForWhatIsMissing) {
  const Json entry = {{"trial", "2"}, {"timestamp", "2026-11-21T05:00:00Z"}, {"message", "x"}};
  EXPECT_EQ(PlainRows(entry, false), "DEFAULT\t2026-11-21 05:00:00 +0000\tunknown_task\t2\tx\n");
}

TEST_F(LogRows, SplitMessagesOfSeveralLinesUnlessToldOtherwise) {
  const Json entry = Entry("service", "ERROR", "one\ntwo\n");
  EXPECT_EQ(PlainRows(entry, false),
            "ERROR\t2026-11-21 05:00:00 +0000\tservice\t\tone\n"
            "ERROR\t2026-11-21 05:00:00 +0000\tservice\t\ttwo\n");
  EXPECT_EQ(PlainRows(entry, true), "ERROR\t2026-11-21 05:00:00 +0000\tservice\t\tone\ntwo\n\n");
}

TEST_F(LogRows, HaveTheColourOfTheirRoleOnATerminal) {
  const std::string worker = ColourRows(Entry("worker-replica-3", "INFO", "step 1"), 1240ms);
  EXPECT_EQ(worker, "    1.24s  \x1b[32mworker-3   \x1b[0m | step 1\n");
  const std::string master = ColourRows(Entry("master-replica-0", "ERROR", "oops"), 1240ms);
  EXPECT_EQ(master, "    1.24s  \x1b[36mmaster-0   \x1b[0m | \x1b[31moops\x1b[0m\n");
}

TEST_F(LogRows, AStateIsALineOfItsOwn) {
  EXPECT_EQ(StateRow("FAILED", 65s), "   1m 05s  \x1b[1;31mFAILED\x1b[0m\n");
}

}  // namespace
}  // namespace caip::cli
