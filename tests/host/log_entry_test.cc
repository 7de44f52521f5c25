#include "host/process/log_entry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace caip::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

enum class End { kFinish, kFlush, kNone };

// The entries of a stream as "LEVEL message", its lines joined with '|'.
struct Capture {
  explicit Capture(const std::string& text, End end = End::kFinish,
                   OutputStream stream = OutputStream::kStderr)
      : classifier(stream) {
    const LineClassifier::Emit emit = [this](const CapturedEntry& entry) {
      std::string message(entry.message);
      for (char& c : message) {
        if (c == '\n') c = '|';
      }
      entries.push_back(std::string(Name(entry.severity)) + " " + message);
    };
    for (size_t begin = 0; begin < text.size();) {
      const size_t newline = text.find('\n', begin);
      classifier.Feed(std::string_view(text).substr(begin, newline - begin), emit);
      begin = newline + 1;
    }
    if (end == End::kFinish) classifier.Finish(emit);
    if (end == End::kFlush) classifier.Flush(emit);
  }

  LineClassifier classifier;
  std::vector<std::string> entries;
};

std::vector<std::string> Stderr(const std::string& text, End end = End::kFinish) {
  return Capture(text, end).entries;
}

constexpr char kTrace[] =
    "Traceback (most recent call last):\n"
    "  File \"task.py\", line 3, in <module>\n"
    "    main()\n"
    "ValueError: no\n";
constexpr char kTraceEntry[] =
    "ERROR Traceback (most recent call last):|  File \"task.py\", line 3, in <module>|    main()|"
    "ValueError: no";

TEST(Stdout, IsInfoLineByLineWhateverItSays) {
  const std::string text =
      std::string("step 1\n\n  two \n") + "2020-02-09 17:36:42.123456: E a/b.cc:7] text\n" + kTrace;
  EXPECT_THAT(
      Capture(text, End::kNone, OutputStream::kStdout).entries,
      ElementsAre(
          "INFO step 1", "INFO   two ", "INFO 2020-02-09 17:36:42.123456: E a/b.cc:7] text",
          "INFO Traceback (most recent call last):", "INFO   File \"task.py\", line 3, in <module>",
          "INFO     main()", "INFO ValueError: no"));
}

TEST(Stderr, IsErrorLineByLine) {
  EXPECT_THAT(Stderr("usage: task.py\n\nWARNING: pip is old\r\n\r\n", End::kNone),
              ElementsAre("ERROR usage: task.py", "ERROR WARNING: pip is old"));
}

struct PrefixCase {
  const char* line;
  run::Severity severity;
  const char* message;
  const char* pathname;
  int line_number;
  const char* thread;
  const char* time;
};

TEST(Stderr, TakesLevelAndPlaceFromTensorFlowAndGrpc) {
  const PrefixCase cases[] = {
      {"2020-02-09 17:36:42.123456: I tensorflow/core/cpu.cc:142] Your CPU", run::Severity::kInfo,
       "Your CPU", "tensorflow/core/cpu.cc", 142, "", ""},
      {"W tensorflow/core/gpu.cc:1] x: y] z", run::Severity::kWarning, "x: y] z",
       "tensorflow/core/gpu.cc", 1, "", ""},
      {"E c:\\d\\e.cc:12] x", run::Severity::kError, "x", "c:\\d\\e.cc", 12, "", ""},
      {"F a.cc:3] ", run::Severity::kCritical, "", "a.cc", 3, "", ""},
      {"D a.cc:3]", run::Severity::kDebug, "", "a.cc", 3, "", ""},
      {"I0921 10:11:12.123456789    1234 chttp2_server.cc:40] bound", run::Severity::kInfo, "bound",
       "chttp2_server.cc", 40, "1234", "0921 10:11:12.123456789"},
      {"E1231 23:59:59.000001 7 a/b.cc:1]   two", run::Severity::kError, "  two", "a/b.cc", 1, "7",
       "1231 23:59:59.000001"},
  };
  for (const PrefixCase& c : cases) {
    LineClassifier classifier(OutputStream::kStderr);
    int entries = 0;
    classifier.Feed(c.line, [&](const CapturedEntry& entry) {
      ++entries;
      EXPECT_EQ(Name(entry.severity), Name(c.severity)) << c.line;
      EXPECT_EQ(entry.message, c.message) << c.line;
      EXPECT_EQ(entry.pathname, c.pathname) << c.line;
      EXPECT_EQ(entry.line_number, c.line_number) << c.line;
      EXPECT_EQ(entry.thread, c.thread) << c.line;
      EXPECT_EQ(entry.time, c.time) << c.line;
    });
    EXPECT_EQ(entries, 1) << c.line;
  }
}

TEST(Stderr, LeavesLinesThatOnlyLookLikeAPrefixAlone) {
  const char* const lines[] = {
      "I",
      "I ",
      "I am a line: 3] x",
      "Ia.cc:3] x",
      "I a.cc] x",
      "I :3] x",
      "I a.cc:] x",
      "I a.cc:3x] x",
      "I a.cc:99999999999] x",
      "X a.cc:3] x",
      "2020-02-09 17:36:42: I a.cc:3] x",
      "2020-02-09 17:36:42.1 I a.cc:3] x",
      "2020-02-09 17:36:42.1: ",
      "2020-02-09",
      "I0921 10:11:12.1 a.cc:3] x",
      "I0921 10:11:12.1 12",
      "I0921 10:11:12 12 a.cc:3] x",
      "I092 10:11:12.1 12 a.cc:3] x",
      "I0921",
  };
  for (const std::string line : lines) {
    EXPECT_THAT(Stderr(line + "\n"), ElementsAre("ERROR " + line));
  }
}

TEST(Tracebacks, AreOneEntry) { EXPECT_THAT(Stderr(kTrace), ElementsAre(kTraceEntry)); }

TEST(Tracebacks, AreRememberedForErrorMessage) {
  EXPECT_EQ(Capture(kTrace).classifier.last_traceback(), kTrace);
  EXPECT_EQ(Capture("plain\n").classifier.last_traceback(), "");
  EXPECT_EQ(Capture(std::string(kTrace) + "INFO:root:on\n" +
                    "Traceback (most recent call last):\nOSError: 2\n")
                .classifier.last_traceback(),
            "Traceback (most recent call last):\nOSError: 2\n");
  const std::string refusal = "/usr/bin/python3: No module named trainer.taks\n";
  EXPECT_EQ(Capture(refusal).classifier.last_traceback(), refusal);
}

TEST(Tracebacks, AreForgottenOnceTheProgramHasGoneOn) {
  std::string text = std::string(kTrace) + "INFO:root:on\n";
  for (int i = 0; i < 60; ++i) text += "step\n";
  EXPECT_EQ(Capture(text).classifier.last_traceback(), kTrace);
  for (int i = 0; i < 10; ++i) text += "step\n";
  EXPECT_EQ(Capture(text).classifier.last_traceback(), "");
}

TEST(Tracebacks, OfIgnoredExceptionsAreNotTheReasonOfAnEnd) {
  const std::string ignored =
      "Exception ignored in: <function Tracker.__del__ at 0x7f56>\n"
      "Traceback (most recent call last):\n"
      "  File \"tracker.py\", line 118, in __del__\n"
      "OSError: closed\n";
  EXPECT_EQ(Capture(ignored).classifier.last_traceback(), "");
  EXPECT_EQ(Capture(kTrace + ignored).classifier.last_traceback(), kTrace);
  EXPECT_EQ(Capture(ignored + kTrace).classifier.last_traceback(), kTrace);
  const auto entries = Stderr(ignored);
  EXPECT_THAT(
      entries,
      ElementsAre("ERROR Exception ignored in: <function Tracker.__del__ at 0x7f56>",
                  "ERROR Traceback (most recent call last):|  File \"tracker.py\", line 118, "
                  "in __del__|OSError: closed"));
}

TEST(Tracebacks, HoldTheirChain) {
  for (const std::string link :
       {"During handling of the above exception, another exception occurred:",
        "The above exception was the direct cause of the following exception:"}) {
    const std::string text = std::string(kTrace) + "\n" + link + "\n\n" + kTrace;
    EXPECT_THAT(Stderr(text), ElementsAre(std::string(kTraceEntry) + "||" + link + "||" +
                                          std::string(kTraceEntry).substr(6)));
    EXPECT_EQ(Capture(text).classifier.last_traceback(), text);
  }
}

TEST(Tracebacks, OfPoolsHoldTheRemoteOneToo) {
  const std::string text = std::string("multiprocessing.pool.RemoteTraceback: \n\"\"\"\n") +
                           kTrace +
                           "\"\"\"\n\nThe above exception was the direct cause of the following "
                           "exception:\n\n" +
                           kTrace;
  EXPECT_EQ(Stderr(text).size(), 3u);  // the name, the quotes, and both tracebacks in one
}

TEST(Tracebacks, ThatFollowEachOtherAreTwoEntries) {
  EXPECT_THAT(Stderr(std::string(kTrace) + kTrace), ElementsAre(kTraceEntry, kTraceEntry));
}

TEST(Tracebacks, HoldTheIndentedRestOfAMessage) {
  EXPECT_THAT(
      Stderr(std::string(kTrace) + "  (0) exhausted\n\t[[node]]\n\n  (1) exhausted\nINFO:x:y\n",
             End::kNone),
      ElementsAre(std::string(kTraceEntry) + "|  (0) exhausted|\t[[node]]||  (1) exhausted",
                  "ERROR INFO:x:y"));
}

TEST(Tracebacks, TakeTheLastWordsOfADyingProcessForTheirNotes) {
  EXPECT_THAT(Stderr(std::string(kTrace) + "while reading shard 3\nof 7\n\n"),
              ElementsAre(std::string(kTraceEntry) + "|while reading shard 3|of 7"));
}

TEST(Tracebacks, OfALivingProcessEndWithTheException) {
  const std::string text = std::string(kTrace) + "trying again\n  in 3 s\n";
  EXPECT_THAT(Stderr(text, End::kFlush),
              ElementsAre(kTraceEntry, "ERROR trying again", "ERROR   in 3 s"));
  EXPECT_THAT(Stderr(text, End::kNone), IsEmpty());
}

// Python 3.11 marks the place so in json/decoder.py.
TEST(Tracebacks, GoOnAfterAMarkThatIsNotIndented) {
  const std::string text =
      "Traceback (most recent call last):\n"
      "  File \"task.py\", line 3, in f\n"
      "    obj, end = scan(s)\n"
      "^^^^~~^^^\n"
      "ValueError: no\n";
  EXPECT_THAT(
      Stderr(text, End::kFlush),
      ElementsAre("ERROR Traceback (most recent call last):|  File \"task.py\", line 3, in f|"
                  "    obj, end = scan(s)|^^^^~~^^^|ValueError: no"));
}

TEST(Tracebacks, EndAtALogRecord) {
  EXPECT_THAT(Stderr(std::string(kTrace) + "WARNING:root:on\n", End::kNone),
              ElementsAre(kTraceEntry, "ERROR WARNING:root:on"));
  EXPECT_THAT(Stderr(std::string(kTrace) + "I a.cc:3] on\n", End::kNone),
              ElementsAre(kTraceEntry, "INFO on"));
}

TEST(Tracebacks, DoNotSwallowALongStreamOfLines) {
  std::string text = kTrace;
  for (int i = 0; i < 40; ++i) text += "step " + std::to_string(i) + "\n";
  const std::vector<std::string> entries = Stderr(text);
  ASSERT_EQ(entries.size(), 41u);
  EXPECT_EQ(entries[0], kTraceEntry);
  EXPECT_EQ(entries[1], "ERROR step 0");
  EXPECT_EQ(entries[40], "ERROR step 39");
}

TEST(Tracebacks, LetLinesOfOtherThreadsThrough) {
  EXPECT_THAT(Stderr("Traceback (most recent call last):\n  File \"a\", line 1, in f\n"
                     "I a.cc:3] x\n    f()\nKeyError: 1\n"),
              ElementsAre("INFO x",
                          "ERROR Traceback (most recent call last):|"
                          "  File \"a\", line 1, in f|    f()|KeyError: 1"));
}

TEST(Tracebacks, AreShownAsFarAsTheyCameWhenTheProcessIsKilled) {
  EXPECT_THAT(Stderr("Traceback (most recent call last):\n  File \"a\", line 1, in f\n"),
              ElementsAre("ERROR Traceback (most recent call last):|  File \"a\", line 1, in f"));
}

TEST(Tracebacks, WithoutEndAreHandedOverInParts) {
  std::string text = "Traceback (most recent call last):\n";
  for (int i = 0; i < 20000; ++i) text += "  File \"task.py\", line 3, in f\n";
  Capture capture(text, End::kNone);
  EXPECT_GT(capture.entries.size(), 1u);
  EXPECT_LE(capture.entries[0].size(), 300'000u);
}

TEST(SyntaxErrors, WithoutAHeadingAreOneEntry) {
  const std::string text =
      "  File \"/tmp/x.py\", line 1\n    def f(\n         ^\nSyntaxError: '(' was never closed\n";
  Capture capture(text);
  EXPECT_THAT(capture.entries, ElementsAre("ERROR   File \"/tmp/x.py\", line 1|    def f(|"
                                           "         ^|SyntaxError: '(' was never closed"));
  EXPECT_EQ(capture.classifier.last_traceback(), text);
}

TEST(SyntaxErrors, InsideATracebackBelongToIt) {
  const std::string text =
      "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    import x\n"
      "  File \"/tmp/x.py\", line 1\n    def f(\n         ^\nSyntaxError: invalid syntax\n";
  EXPECT_EQ(Stderr(text).size(), 1u);
}

TEST(SyntaxErrors, AreNotSeenInAnIndentedFileLineOfAnythingElse) {
  Capture capture("  File \"/tmp/x.py\", line 1\n    text\nplain\n");
  EXPECT_THAT(capture.entries,
              ElementsAre("ERROR   File \"/tmp/x.py\", line 1", "ERROR     text", "ERROR plain"));
  EXPECT_EQ(capture.classifier.last_traceback(), "");
  EXPECT_THAT(Stderr("  File \"x\", line 1\n"), ElementsAre("ERROR   File \"x\", line 1"));
}

constexpr char kGroup[] =
    "  + Exception Group Traceback (most recent call last):\n"
    "  |   File \"t.py\", line 3, in <module>\n"
    "  |     raise ExceptionGroup(\"many\", [ValueError(1), TypeError(2)])\n"
    "  | ExceptionGroup: many (2 sub-exceptions)\n"
    "  +-+---------------- 1 ----------------\n"
    "    | ValueError: 1\n"
    "    +---------------- 2 ----------------\n"
    "    | TypeError: 2\n"
    "    +------------------------------------\n";

TEST(ExceptionGroups, AreOneEntry) {
  EXPECT_EQ(Stderr(kGroup).size(), 1u);
  EXPECT_EQ(Capture(kGroup).classifier.last_traceback(), kGroup);
  EXPECT_EQ(Stderr(std::string(kGroup) + "next\n").size(), 2u);
}

TEST(ExceptionGroups, ChainWithTracebacksBothWays) {
  const std::string link =
      "\nDuring handling of the above exception, another exception occurred:\n\n";
  EXPECT_EQ(Stderr(kTrace + link + kGroup).size(), 1u);
  EXPECT_EQ(Stderr(kGroup + link + kTrace).size(), 1u);
  EXPECT_EQ(Stderr(kTrace + link + kGroup + "next\n").size(), 2u);
}

// What the hook in the interpreter writes for a record.
std::string Record(const std::string& level, const std::string& message) {
  return "\x1e"
         "caip-log:{\"severity\":\"" +
         level + "\",\"message\":\"" + message + "\",\"pathname\":\"/t/task.py\",\"lineno\":7}\n";
}

TEST(Records, HaveTheirOwnLevel) {
  for (const std::string level : {"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"}) {
    EXPECT_THAT(Stderr(Record(level, "text"), End::kNone), ElementsAre(level + " text"));
  }
}

TEST(Records, HaveTheirPlaceAndThread) {
  LineClassifier classifier(OutputStream::kStderr);
  int entries = 0;
  classifier.Feed(
      "\x1e"
      "caip-log:{\"severity\":\"INFO\",\"message\":\"\",\"pathname\":\"/t/a \\u00e9.py\","
      "\"lineno\":12,\"thread\":\"140\"}\r",
      [&](const CapturedEntry& entry) {
        ++entries;
        EXPECT_EQ(entry.message, "");
        EXPECT_EQ(entry.pathname, "/t/a \u00e9.py");
        EXPECT_EQ(entry.line_number, 12);
        EXPECT_EQ(entry.thread, "140");
      });
  EXPECT_EQ(entries, 1);
}

TEST(Records, AreOneEntryHoweverManyLinesTheyHaveAndWhateverTheySay) {
  EXPECT_THAT(Stderr(Record("ERROR", "bad\\nTraceback (most recent call last):\\nE: 1") +
                     Record("INFO", "I a.cc:3] x")),
              ElementsAre("ERROR bad|Traceback (most recent call last):|E: 1", "INFO I a.cc:3] x"));
}

TEST(Records, MayFollowALineThatHasNotEnded) {
  EXPECT_THAT(Stderr("\r 5% done" + Record("INFO", "epoch 1") + "\r 6% done\n"),
              ElementsAre("ERROR \r 5% done", "INFO epoch 1", "ERROR \r 6% done"));
}

TEST(Records, ThatAreBrokenAreLines) {
  const std::string mark =
      "\x1e"
      "caip-log:";
  const std::string lines[] = {
      mark,
      mark + "{",
      mark + "[]",
      mark + "{}",
      mark + R"({"severity":"INFO"})",
      mark + R"({"severity":"INFO","message":3})",
      mark + R"({"severity":"LOUD","message":"x"})",
      mark + R"({"severity":"INFO","message":"x"} y)",
      "\x1e"
      R"(caip-log {"severity":"INFO","message":"x"})",
      "\x1e",
      "x" + mark + "{",
  };
  for (const std::string& line : lines) {
    EXPECT_THAT(Stderr(line + "\n", End::kNone), ElementsAre("ERROR " + line));
  }
}

TEST(Records, OnStdoutAreLines) {
  const std::string line = Record("ERROR", "x");
  EXPECT_THAT(Capture(line, End::kNone, OutputStream::kStdout).entries,
              ElementsAre("INFO " + line.substr(0, line.size() - 1)));
}

TEST(Records, DoNotBreakATracebackThatIsStillBeingPrinted) {
  const std::string whole = std::string(kTrace) +
                            "\nDuring handling of the above exception, another exception "
                            "occurred:\n\n" +
                            kTrace;
  const std::string entry = Stderr(whole).at(0);
  const size_t ends = whole.find("ValueError");  // a record after an exception may be of its thread
  const size_t goes_on = whole.find("During");
  int breaks = 0;
  for (size_t at = whole.find('\n'); at + 1 < whole.size(); at = whole.find('\n', at + 1)) {
    if (at > ends && at < goes_on) continue;
    const std::string text = whole.substr(0, at + 1) + Record("INFO", "x") + whole.substr(at + 1);
    EXPECT_THAT(Stderr(text), ElementsAre("INFO x", entry)) << "after byte " << at;
    EXPECT_EQ(Capture(text).classifier.last_traceback(), whole);
    ++breaks;
  }
  EXPECT_EQ(breaks, 8);
}

TEST(Records, OfAnySizeDoNotBreakATraceback) {
  const std::string big(250'000, 'x');
  EXPECT_THAT(Stderr("Traceback (most recent call last):\n" + Record("INFO", big) +
                     Record("INFO", big) + "ValueError: no\n"),
              ElementsAre("INFO " + big, "INFO " + big,
                          "ERROR Traceback (most recent call last):|ValueError: no"));
}

TEST(Records, ComeBehindTheTracebackThatWasPrintedBefore) {
  EXPECT_THAT(Stderr(kTrace + Record("INFO", "on"), End::kNone),
              ElementsAre(kTraceEntry, "INFO on"));
}

TEST(Records, ShowThatTheProgramHasGoneOnBehindATraceback) {
  std::string text = kTrace;
  for (int i = 0; i < 70; ++i) text += Record("INFO", "step");
  EXPECT_EQ(Capture(text).classifier.last_traceback(), "");
}

}  // namespace
}  // namespace caip::host
