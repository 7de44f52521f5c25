#include <gtest/gtest.h>

#include <string>

#include "harness/explorer/failure_reason.h"
#include "harness/explorer/recovery_comparison.h"
#include "tests/harness/run_of.h"

namespace caip::harness {
namespace {

TEST(ExcerptAtDifference, ShowsAShortTextWhole) {
  EXPECT_EQ(ExcerptAtDifference("{\"step\": 40}", "{\"step\": 30}"), "{\"step\": 40}");
}

TEST(ExcerptAtDifference, ShowsALongTextAroundItsFirstDifference) {
  const std::string same(500, 'x');
  EXPECT_EQ(ExcerptAtDifference(same + "7, and so on", same + "8, and so on"),
            "…" + std::string(20, 'x') + "7, and so on");
}

TEST(ExcerptAtDifference, KeepsCharactersWhole) {
  std::string same;
  for (int i = 0; i < 100; ++i) same += "ä";
  EXPECT_EQ(ExcerptAtDifference(same + "7", same + "8"), "…ääääääääää7");
  EXPECT_EQ(ExcerptAtDifference("x" + same, "y" + same).size(), 59u);
}

TEST(ExcerptAtDifference, ShowsBinaryBytesInHexadecimal) {
  const std::string pickle("\x80\x04\x95\x00\x10K\x01.", 8);
  const std::string other("\x80\x04\x95\x00\x10K\x02.", 8);
  EXPECT_EQ(ExcerptAtDifference(pickle, other), "8 bytes, at byte 6: 01 2e");
  EXPECT_EQ(ExcerptAtDifference(pickle, pickle.substr(0, 5)), "8 bytes, at byte 5: 4b 01 2e");
  EXPECT_EQ(ExcerptAtDifference(pickle.substr(0, 5), pickle), "5 bytes, no more");
}

TEST(FindErrorLine, IsTheExceptionOfATraceback) {
  EXPECT_EQ(FindErrorLine("The replica master 0 exited with a non-zero status of 1. \n"
                          "Traceback (most recent call last):\n"
                          "  File \"/usr/lib/python3.11/runpy.py\", line 196, in run\n"
                          "    return call(x)\n"
                          "           ~~~~^^^\n"
                          "xgboost.core.XGBoostError: [07:35:51] json.cc:61: Expecting: \"}\"\n"
                          "    {\"tree\": [1, 2,\n"
                          "    ~~~~~~~^\n"
                          "\n"
                          "To find out more about why your job exited please check the logs: "
                          "https://console.cloud.google.com/logs/viewer"),
            "xgboost.core.XGBoostError: [07:35:51] json.cc:61: Expecting: \"}\"");
}

TEST(FindErrorLine, IsTheLastOfSeveralExceptions) {
  EXPECT_EQ(FindErrorLine("  File \"a.py\", line 1, in f\n    a()\nKeyError: 'x'\n\n"
                          "During handling of the above exception, another exception occurred:\n\n"
                          "Traceback (most recent call last):\n"
                          "  File \"b.py\", line 2, in g\n    b()\nValueError: no x\n"),
            "ValueError: no x");
}

TEST(FindErrorLine, IsTheLastLineWithTextIfThereIsNoTraceback) {
  EXPECT_EQ(FindErrorLine("The replica master 0 exited with 1.\nboom at 7\n   ~~~~~^\n"),
            "boom at 7");
  EXPECT_EQ(
      FindErrorLine("The replica master 0 exited with 1. To find out more about it: https://x"),
      "The replica master 0 exited with 1.");
  EXPECT_EQ(FindErrorLine(""), "");
}

Evidence Failed(std::vector<Event> lines) {
  Evidence run;
  run.state = "FAILED";
  run.error_message = "The replica master 0 exited with a non-zero status of 1.";
  run.events = std::move(lines);
  run.events.push_back(Exit("master-0", 1, 1));
  return run;
}

TEST(FindFailureReason, IsTheLastErrorOfTheProgram) {
  EXPECT_EQ(FindFailureReason(Failed({Line("master-0", 1, "no data", "ERROR"),
                                      Line("master-0", 1, "cleaning up"), Line("ps-0", 1, "-")})),
            "no data");
  EXPECT_EQ(FindFailureReason(Failed({})),
            "The replica master 0 exited with a non-zero status of 1.");
}

TEST(FindFailureReason, IsNotTheNoticeOfMpirunAboutTheEndOfARank) {
  const std::string rule(74, '-');
  std::vector<Event> lines = {Line("master-0", 1, "the checkpoint is torn", "ERROR")};
  for (const char* text : {rule.c_str(), "MPI_ABORT was invoked on rank 0", "with errorcode 3.",
                           rule.c_str(), "[host:00002] 1 more process has sent help message help-a",
                           "[host:00002] [[1,0],0] ORTE_ERROR_LOG: Out of resource"}) {
    lines.push_back(Line("master-0", 1, text, "ERROR"));
  }
  EXPECT_EQ(FindFailureReason(Failed(lines)), "the checkpoint is torn");
  lines.erase(lines.begin());
  EXPECT_EQ(FindFailureReason(Failed(lines)),
            "[host:00002] [[1,0],0] ORTE_ERROR_LOG: Out of resource")
      << "nothing else is said";
}

}  // namespace
}  // namespace caip::harness
