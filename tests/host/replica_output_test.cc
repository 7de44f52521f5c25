#include "host/process/replica_output.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <thread>

#include "host/process/line_splitter.h"
#include "tests/host/launch_world.h"

namespace caip::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// The lines that come of `bytes` when they arrive in pieces of `piece` bytes.
std::vector<std::string> Split(const std::string& bytes, size_t piece, size_t limit = 100) {
  LineSplitter splitter(limit);
  std::vector<std::string> lines;
  const auto take = [&lines](std::string_view line) { lines.emplace_back(line); };
  for (size_t at = 0; at < bytes.size(); at += piece) splitter.Feed(bytes.substr(at, piece), take);
  splitter.Finish(take);
  return lines;
}

TEST(LineSplitter, GivesTheSameLinesHoweverTheBytesArrive) {
  for (size_t piece = 1; piece < 20; ++piece) {
    EXPECT_THAT(Split("a\n\nbc\r\n10%\r20%\r\nlast", piece),
                ElementsAre("a", "", "bc", "10%\r20%", "last"))
        << piece;
    EXPECT_THAT(Split("x\n", piece), ElementsAre("x"));
  }
  EXPECT_THAT(Split("", 1), IsEmpty());
}

TEST(LineSplitter, CutsALongLineAndLosesNothing) {
  for (const size_t piece : {1, 7, 10, 1000}) {
    EXPECT_THAT(Split("0123456789abcdefghijXYZ\nnext", piece, 10),
                ElementsAre("0123456789", "abcdefghij", "XYZ", "next"))
        << piece;
    // A line of exactly the limit is not cut, nor is an empty rest made of twice the limit.
    EXPECT_THAT(Split("0123456789\nn\n", piece, 10), ElementsAre("0123456789", "n"));
    EXPECT_THAT(Split("0123456789abcdefghij\nn\n", piece, 10),
                ElementsAre("0123456789", "abcdefghij", "n"));
  }
}

TEST(LineSplitter, CutsBetweenCharacters) {
  EXPECT_THAT(Split("12345678€€", 1, 10), ElementsAre("12345678", "€€"));
  EXPECT_THAT(Split("1234567€€", 100, 10), ElementsAre("1234567€", "€"));
}

TEST(SafeText, KeepsUtf8AndReplacesWhatIsNone) {
  EXPECT_TRUE(IsSafeText("plain text that is longer than a word, π ≈ 3.14 🙂"));
  EXPECT_FALSE(IsSafeText(std::string("a\0b", 3)));
  EXPECT_FALSE(IsSafeText("12345678\xff"));
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(SafeText(std::string("a\0b", 3)), "a" + bad + "b");
  EXPECT_EQ(SafeText("x\xff\xfey"), "x" + bad + bad + "y");
  EXPECT_EQ(SafeText("\xe2\x82"), bad);                            // the beginning of a character
  EXPECT_EQ(SafeText("\xc0\xaf"), bad + bad);                      // overlong
  EXPECT_EQ(SafeText("\xed\xa0\x80"), bad + bad + bad);            // a surrogate
  EXPECT_EQ(SafeText("\xf4\x90\x80\x80"), bad + bad + bad + bad);  // above U+10FFFF
  EXPECT_EQ(SafeText("🙂"), "🙂");
}

/// One replica's pipes, written by the test.
class Printer {
 public:
  explicit Printer(ReplicaOutput& output, uint64_t number = 1,
                   run::LogReader reader = run::LogReader::kLauncher,
                   std::vector<ReplicaOutput::Remark> remarks = {})
      : output_(output), number_(number) {
    int out[2];
    int err[2];
    EXPECT_EQ(::pipe2(out, O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(err, O_CLOEXEC), 0);
    out_ = Fd(out[1]);
    err_ = Fd(err[1]);
    output.Add(number, {AKey().run, "worker-replica-0", reader}, Fd(out[0]), Fd(err[0]),
               std::move(remarks));
  }
  void Out(const std::string& bytes) { Print(out_, bytes); }
  void Err(const std::string& bytes) { Print(err_, bytes); }
  /// Returns the traceback.
  std::string Finish(std::vector<ReplicaOutput::Remark> remarks = {}) {
    auto done = std::make_shared<std::promise<std::string>>();
    output_.Finish(number_, std::move(remarks),
                   [done](std::string traceback) { done->set_value(std::move(traceback)); });
    return done->get_future().get();
  }

 private:
  static void Print(const Fd& fd, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::write(fd.get(), bytes.data(), bytes.size());
      ASSERT_GT(count, 0);
      bytes.remove_prefix(static_cast<size_t>(count));
    }
  }
  ReplicaOutput& output_;
  uint64_t number_;
  Fd out_;
  Fd err_;
};

class ReplicaOutputTest : public ::testing::Test {
 protected:
  VirtualClock clock_{Instant(std::chrono::seconds(1'644'400'000))};
  RecordingSink sink_;
  ReplicaOutput output_{clock_, sink_};
};

TEST_F(ReplicaOutputTest, StdoutIsInfoAndStderrIsError) {
  Printer printer(output_);
  printer.Out("hello\n");
  ASSERT_TRUE(sink_.AwaitMessage("hello"));
  printer.Err("usage: task.py\n");
  printer.Finish();
  const auto lines = sink_.Lines();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].severity, engine::Severity::kInfo);
  EXPECT_EQ(lines[0].time, clock_.Now());
  EXPECT_EQ(lines[0].run, AKey().run);
  EXPECT_EQ(lines[0].task, "worker-replica-0");
  EXPECT_EQ(lines[1].severity, engine::Severity::kError);
}

TEST_F(ReplicaOutputTest, TakesLevelAndPlaceFromTensorFlowsPrefix) {
  Printer printer(output_);
  printer.Err("2021-03-04 05:06:07.891011: W tensorflow/core/cpu.cc:142] no AVX2\n");
  printer.Finish();
  const auto lines = sink_.Lines();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].severity, engine::Severity::kWarning);
  EXPECT_EQ(lines[0].pathname, "tensorflow/core/cpu.cc");
  EXPECT_EQ(lines[0].line_number, 142);
}

constexpr const char* kTraceback =
    "Traceback (most recent call last):\n  File \"task.py\", line 1, in <module>\n    1 / 0\n"
    "ZeroDivisionError: division by zero\n";

TEST_F(ReplicaOutputTest, ATracebackIsOneEntryAndGoesIntoTheExit) {
  Printer printer(output_);
  printer.Err(std::string("before\n") + kTraceback);
  const std::string traceback = printer.Finish();
  EXPECT_EQ(traceback, kTraceback);
  const auto messages = sink_.Messages();
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_THAT(messages[1], HasSubstr("ZeroDivisionError"));
  EXPECT_THAT(messages[1], HasSubstr("Traceback"));
}

TEST_F(ReplicaOutputTest, EachLineOfAContainerIsAnEntryAndATracebackGoesIntoTheExit) {
  Printer printer(output_, 1, run::LogReader::kContainer,
                  {{engine::Severity::kWarning, "a remark"}});
  ASSERT_TRUE(sink_.AwaitMessage("a remark"));
  printer.Out("{\"severity\": \"INFO\", \"step\": 1}\n");
  ASSERT_TRUE(sink_.AwaitMessage("step"));
  printer.Err(kTraceback);
  EXPECT_EQ(printer.Finish(), kTraceback);
  const auto lines = sink_.Lines();
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[0].severity, engine::Severity::kWarning);
  EXPECT_EQ(lines[1].severity, engine::Severity::kInfo);
  EXPECT_EQ(lines[1].payload, run::Payload::kObject);
  EXPECT_EQ(lines[1].task, "worker-replica-0");
  EXPECT_EQ(lines[2].message, "Traceback (most recent call last):");
  EXPECT_EQ(lines[5].message, "ZeroDivisionError: division by zero");
  for (size_t i = 2; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i].severity, engine::Severity::kDefault);
    EXPECT_EQ(lines[i].payload, run::Payload::kText);
    EXPECT_EQ(lines[i].run, AKey().run);
  }
}

TEST_F(ReplicaOutputTest, HalfATracebackIsNotHeldBackForEver) {
  Printer printer(output_);
  printer.Err("Traceback (most recent call last):\n  File \"task.py\", line 1, in <module>\n");
  EXPECT_TRUE(sink_.AwaitMessage("Traceback"));  // though nothing ends the stream
  printer.Finish();
}

TEST_F(ReplicaOutputTest, ATracebackThatComesSlowlyIsOneEntry) {
  const std::string half = "Traceback (most recent call last):\n  File \"task.py\", line 1, in f\n";
  Printer slow(output_, 1);
  slow.Err(half);
  Printer quick(output_, 2);
  quick.Err(half + "KeyError: 'quick'\n");
  EXPECT_TRUE(sink_.AwaitMessage("quick"));  // held back for a moment: more might have come
  slow.Err("KeyError: 'slow'\n");
  EXPECT_EQ(slow.Finish(), half + "KeyError: 'slow'\n");
  quick.Finish();
  EXPECT_THAT(sink_.Messages(), ElementsAre(half + "KeyError: 'quick'", half + "KeyError: 'slow'"));
}

TEST_F(ReplicaOutputTest, AHugeLineBecomesSeveralEntriesAndNothingIsLost) {
  Printer printer(output_);
  const std::string huge(3 * kLogLineBytesMax + 17, 'x');
  printer.Out(huge + "\nnext\n");
  printer.Finish();
  const auto messages = sink_.Messages();
  ASSERT_EQ(messages.size(), 5u);
  EXPECT_EQ(messages[0].size(), kLogLineBytesMax);
  EXPECT_EQ(messages[3].size(), 17u);
  EXPECT_EQ(messages[0] + messages[1] + messages[2] + messages[3], huge);
  EXPECT_EQ(messages[4], "next");
}

TEST_F(ReplicaOutputTest, ALastLineWithoutAnEndCounts) {
  Printer printer(output_);
  printer.Out("first\nwithout end");
  printer.Finish();
  EXPECT_THAT(sink_.Messages(), ElementsAre("first", "without end"));
}

TEST_F(ReplicaOutputTest, RemarksComeLast) {
  Printer printer(output_);
  printer.Err("printed");
  printer.Finish({{engine::Severity::kWarning, "remark"}});
  EXPECT_THAT(sink_.Messages(), ElementsAre("printed", "remark"));
}

TEST_F(ReplicaOutputTest, WaitsForASlowSinkAndDropsNothing) {
  Printer printer(output_);
  sink_.Shut(true);
  constexpr int kLines = 200'000;  // many times what a pipe holds
  std::atomic<int> printed = 0;
  std::thread replica([&] {
    for (int i = 0; i < kLines; i += 1000) {
      std::string lines;
      for (int j = i; j < i + 1000; ++j) lines += "line " + std::to_string(j) + "\n";
      printer.Out(lines);
      printed = i + 1000;
    }
  });
  sink_.Shut(false);
  replica.join();
  printer.Finish();
  EXPECT_EQ(printed, kLines);
  const auto messages = sink_.Messages();
  ASSERT_EQ(messages.size(), static_cast<size_t>(kLines));
  for (int i = 0; i < kLines; ++i) ASSERT_EQ(messages[i], "line " + std::to_string(i));
}

TEST_F(ReplicaOutputTest, FinishesThoughAStrangerHoldsThePipe) {
  Printer printer(output_);  // holds the write ends all the time
  printer.Out("x\n");
  printer.Finish();
  EXPECT_THAT(sink_.Messages(), ElementsAre("x"));
}

/// How many descriptors the epoll descriptors of this process watch.
size_t CountWatched() {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
    const auto read = ReadFile(entry.path());
    const std::string facts = read.ok() ? *read : "";  // gone: that of the iterator itself
    for (size_t at = facts.find("tfd:"); at != facts.npos; at = facts.find("tfd:", at + 1)) ++count;
  }
  return count;
}

// A fork of this process has the descriptors, too, until it executes its program. Then closing them
// does not end the kernel's events, whose pointers would be those of streams that are gone.
TEST_F(ReplicaOutputTest, WatchesNoPipeOfAFinishedReplicaThatAnotherProcessHas) {
  const size_t before = CountWatched();
  int out[2];
  int err[2];
  ASSERT_EQ(::pipe2(out, O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(err, O_CLOEXEC), 0);
  const Fd copies[] = {Fd(::fcntl(out[0], F_DUPFD_CLOEXEC, 0)),
                       Fd(::fcntl(err[0], F_DUPFD_CLOEXEC, 0))};
  const Fd writers[] = {Fd(out[1]), Fd(err[1])};
  output_.Add(1, {AKey().run, "worker-replica-0"}, Fd(out[0]), Fd(err[0]));
  ASSERT_EQ(::write(writers[0].get(), "x\n", 2), 2);
  ASSERT_TRUE(sink_.AwaitMessage("x"));
  EXPECT_EQ(CountWatched(), before + 2);
  std::promise<void> done;
  output_.Finish(1, {}, [&done](const std::string&) { done.set_value(); });
  done.get_future().get();
  EXPECT_EQ(CountWatched(), before);
}

TEST_F(ReplicaOutputTest, FinishOfAReplicaWithoutPipesIsDoneAtOnce) {
  std::promise<std::string> done;
  output_.Finish(99, {}, [&done](std::string traceback) { done.set_value(std::move(traceback)); });
  EXPECT_EQ(done.get_future().get(), "");
}

}  // namespace
}  // namespace caip::host
