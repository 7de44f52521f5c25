#include "run/traceback.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace caip::run {
namespace {

using ::testing::EndsWith;
using ::testing::StartsWith;

// A frame of two lines, as Python 3.7 prints it; `n` makes it findable.
std::string Frame(int n) {
  return "  File \"task.py\", line " + std::to_string(n) + ", in f\n    f(" + std::to_string(n) +
         ")\n";
}

std::string Traceback(int frames, const std::string& exception) {
  std::string text = std::string(kTracebackHeading) + "\n";
  for (int n = 1; n <= frames; ++n) text += Frame(n);
  return text + exception;
}

TEST(ReduceTraceback, LeavesAShortOneAlone) {
  const std::string text = Traceback(3, "ValueError: no");
  EXPECT_EQ(ReduceTraceback(text + "\n"), text);
}

TEST(ReduceTraceback, TakesOutTheOldestFramesUntilItFits) {
  const std::string text = Traceback(10, "ValueError: no");
  const std::string without_one = std::string(kTracebackHeading) + "\n  [...]\n" +
                                  Traceback(10, "ValueError: no").substr(Traceback(1, "").size());
  EXPECT_EQ(ReduceTraceback(text, text.size()), text);
  EXPECT_EQ(ReduceTraceback(text, text.size() - 1), without_one);
  EXPECT_EQ(ReduceTraceback(text, without_one.size()), without_one);
  EXPECT_EQ(ReduceTraceback(text, 150), std::string(kTracebackHeading) + "\n  [...]\n" + Frame(9) +
                                            Frame(10) + "ValueError: no");
}

TEST(ReduceTraceback, KnowsTheExceptionBelowAMarkThatIsNotIndented) {
  const std::string text = Traceback(10, "^^^^\nValueError: no");
  const std::string shortest = std::string(kTracebackHeading) + "\n  [...]\nValueError: no";
  EXPECT_EQ(ReduceTraceback(text, shortest.size()), shortest);
}

TEST(ReduceTraceback, NeverExceedsTheLimitAndKeepsTheException) {
  const std::string text = Traceback(200, "ValueError: no");
  for (size_t limit = 70; limit < 4000; limit += 7) {
    const std::string reduced = ReduceTraceback(text, limit);
    EXPECT_LE(reduced.size(), limit);
    EXPECT_THAT(reduced, StartsWith("Traceback (most recent call last):\n  [...]\n"));
    EXPECT_THAT(reduced, EndsWith("ValueError: no"));
  }
}

TEST(ReduceTraceback, TakesAFrameWithItsCaretsWhole) {
  const std::string text = std::string(kTracebackHeading) +
                           "\n  File \"a.py\", line 1, in f\n    f(x)\n    ^^^^\n" + Frame(2) +
                           "ValueError: no";
  EXPECT_EQ(ReduceTraceback(text, text.size() - 1),
            std::string(kTracebackHeading) + "\n  [...]\n" + Frame(2) + "ValueError: no");
}

TEST(ReduceTraceback, LeavesOnlyTheExceptionWhereNoFrameFits) {
  EXPECT_EQ(ReduceTraceback(Traceback(2, "ValueError: no"), 60),
            std::string(kTracebackHeading) + "\n  [...]\nValueError: no");
}

TEST(ReduceTraceback, KeepsTheEndOfAChain) {
  const std::string chain =
      Traceback(4,
                "KeyError: 1\n\nDuring handling of the above exception, another exception "
                "occurred:\n\n") +
      Traceback(4, "ValueError: no");
  EXPECT_EQ(ReduceTraceback(chain, 150), std::string(kTracebackHeading) + "\n  [...]\n" + Frame(3) +
                                             Frame(4) + "ValueError: no");
}

TEST(ReduceTraceback, GivesUpOnAnExceptionThatIsTooLong) {
  EXPECT_EQ(ReduceTraceback(Traceback(2, "ValueError: " + std::string(3000, 'x'))),
            "(no traceback available)");
}

TEST(ReduceTraceback, CutsOtherTextAtItsEnd) {
  EXPECT_EQ(ReduceTraceback(std::string(3000, 'x')), std::string(2048, 'x'));
}

TEST(ReduceTraceback, NeverTearsACharacter) {
  EXPECT_EQ(ReduceTraceback("ab\xC3\xA4zzz", 3), "ab");
  EXPECT_EQ(ReduceTraceback("ab\xC3\xA4zzz", 4), "ab\xC3\xA4");
}

TEST(TracebackLines, AreToldByTheirForm) {
  EXPECT_TRUE(OpensTraceback("Traceback (most recent call last):"));
  EXPECT_TRUE(OpensTraceback("  + Exception Group Traceback (most recent call last):"));
  EXPECT_FALSE(OpensTraceback("Traceback (most recent call last): x"));
  EXPECT_TRUE(OpensSyntaxError("  File \"/tmp/x.py\", line 12"));
  EXPECT_FALSE(OpensSyntaxError("  File \"/tmp/x.py\", line 12, in <module>"));
  EXPECT_FALSE(OpensSyntaxError("  File \"/tmp/x.py\", line "));
  EXPECT_TRUE(NamesSyntaxError("IndentationError: unexpected indent"));
  EXPECT_FALSE(NamesSyntaxError("ValueError: x"));
  EXPECT_TRUE(RefusesModule("/usr/bin/python3: No module named trainer.taks"));
  EXPECT_TRUE(
      RefusesModule("python3.11: Error while finding module specification for 'a.b' "
                    "(ModuleNotFoundError: No module named 'a')"));
  EXPECT_FALSE(RefusesModule("my python3: No module named x"));
  EXPECT_FALSE(RefusesModule("loader: No module named x"));
  EXPECT_FALSE(RefusesModule("python3: a log line"));
  EXPECT_TRUE(LooksLikeLogRecord("WARNING:root:x"));
  EXPECT_TRUE(LooksLikeLogRecord("INFO step 3"));
  EXPECT_TRUE(LooksLikeLogRecord("2021-02-03 04:05:06,789 text"));
  EXPECT_TRUE(LooksLikeLogRecord("[2021-02-03 04:05:06] text"));
  EXPECT_FALSE(LooksLikeLogRecord("INFORMATION"));
  EXPECT_FALSE(LooksLikeLogRecord("12"));
  EXPECT_FALSE(LooksLikeLogRecord(""));
}

}  // namespace
}  // namespace caip::run
