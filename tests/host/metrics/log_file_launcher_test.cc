// Log files of replicas (docs/service/vertex.md, section 10), read as they are written.

#include "host/metrics/log_file_launcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <optional>

#include "host/machine/machines.h"
#include "host/metrics/log_files.h"
#include "run/texts.h"
#include "tests/host/launch_world.h"
#include "tests/host/metrics/hand_launcher.h"
#include "tests/host/metrics/no_threads.h"

namespace caip::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

void WriteTo(const Path& file, const std::string& text, std::ios::openmode mode = std::ios::app) {
  std::ofstream(file, mode) << text;
}

class LogFileLauncherTest : public ::testing::Test {
 protected:
  LogFileLauncherTest() { Serve({}); }

  void Serve(std::optional<Duration> end_wait_max) {
    auto inner = std::make_unique<HandLauncher>();
    hand_ = inner.get();
    LogFileOptions options{root_.path() / "logs",
                           [](const engine::RunKey& run) { return run.project == "my-project"; }};
    if (end_wait_max) options.end_wait_max = *end_wait_max;
    launcher_ =
        std::make_unique<LogFileLauncher>(std::move(inner), std::move(options), sink_, clock_);
  }

  /// Starts a replica. Returns the directory of this host with its log files; "" none.
  Path Start(bool fresh_disk = true, engine::ReplicaKey key = AKey()) {
    auto launch = AShell("", std::move(key));
    launch.fresh_disk = fresh_disk;
    launcher_->Launch(std::move(launch), {[](const engine::ReplicaKey&) {},
                                          [this](const engine::ReplicaExit&) {
                                            const std::lock_guard lock(mutex_);
                                            at_exit_ = sink_.Messages();
                                            ++exits_;
                                            changed_.notify_all();
                                          }});
    const auto& volumes = hand_->launches.back().volumes;
    if (volumes.empty()) return "";
    EXPECT_EQ(volumes.back().shown, "/var/log-storage");
    return volumes.back().directory;
  }
  /// Ends the last replica. Returns the messages that the log had when its end was reported.
  std::vector<std::string> End() {
    hand_->listeners.back().on_exit(ExitOfHand(hand_->launches.back().key));
    return AwaitEnd();
  }
  std::vector<std::string> AwaitEnd() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(30), [&] { return exits_ > 0; }))
        << "no exit came";
    exits_ = 0;
    return at_exit_;
  }

  TemporaryDirectory root_;
  SystemClock clock_;
  RecordingSink sink_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> at_exit_;
  int exits_ = 0;
  HandLauncher* hand_ = nullptr;
  std::unique_ptr<LogFileLauncher> launcher_;  // last: its thread uses the members above
};

TEST(LogFiles, AreNamedByTheService) {
  for (const char* name : {"output.log", "output-1.log", "output_b.log"}) {
    EXPECT_TRUE(IsLogFileName(name)) << name;
  }
  for (const char* name : {"output", "output.log.1", "my-output.log", "outpu.log", ""}) {
    EXPECT_FALSE(IsLogFileName(name)) << name;
  }
}

/// The log files of a directory, read when the test says so.
struct FilesByHand {
  /// The lines of all turns that it takes to read everything.
  std::vector<std::string> Read() {
    const size_t before = lines.size();
    while (!files.Read(take)) ++turns;
    return {lines.begin() + static_cast<ptrdiff_t>(before), lines.end()};
  }
  Path File(const std::string& name) const { return root.path() / name; }

  TemporaryDirectory root;
  LogFiles files{root.path()};
  std::vector<std::string> lines;
  LogFiles::Take take = [this](std::string_view line) { lines.emplace_back(line); };
  int turns = 1;
};

// A program that starts again empties its file and writes new lines before the next read.
TEST(LogFiles, AFileThatIsOverwrittenIsReadFromItsStart) {
  FilesByHand by_hand;
  const Path file = by_hand.File("output.log");
  WriteTo(file, "10:01 one\n10:02 two\n");
  EXPECT_THAT(by_hand.Read(), ElementsAre("10:01 one", "10:02 two"));
  WriteTo(file, "10:03 one\n10:04 two\n10:05 three\n", std::ios::trunc);  // it is larger
  EXPECT_THAT(by_hand.Read(), ElementsAre("10:03 one", "10:04 two", "10:05 three"));
  WriteTo(file, "10:06 one\n10:07 two\n10:08 three\n", std::ios::trunc);  // of the same size
  EXPECT_THAT(by_hand.Read(), ElementsAre("10:06 one", "10:07 two", "10:08 three"));
  WriteTo(file, "10:09 one\n", std::ios::trunc);  // smaller
  EXPECT_THAT(by_hand.Read(), ElementsAre("10:09 one"));
  WriteTo(file, "10:10 two\n");
  EXPECT_THAT(by_hand.Read(), ElementsAre("10:10 two"));
  EXPECT_THAT(by_hand.Read(), IsEmpty());
}

// As after "copytruncate" of a rotation: the program goes on at its old place, after a hole.
TEST(LogFiles, AFileThatIsEmptiedMayGoOnAtItsOldPlace) {
  FilesByHand by_hand;
  const Path file = by_hand.File("output.log");
  const std::string long_line(10'000, 'x');
  std::ofstream program(file);
  program << long_line << "\n" << std::flush;
  EXPECT_THAT(by_hand.Read(), ElementsAre(long_line));
  std::filesystem::resize_file(file, 0);
  EXPECT_THAT(by_hand.Read(), IsEmpty());
  program << "second\n" << std::flush;
  EXPECT_THAT(by_hand.Read(), ElementsAre("second"));
  std::filesystem::resize_file(file, 0);
  program << "third\n" << std::flush;  // without a read in between
  EXPECT_THAT(by_hand.Read(), ElementsAre("third"));
}

TEST(LogFiles, HolesAreNotRead) {
  FilesByHand by_hand;
  const Path file = by_hand.File("output.log");
  WriteTo(file, "first\n");
  std::filesystem::resize_file(file, uint64_t{1} << 36);
  EXPECT_THAT(by_hand.Read(), ElementsAre("first"));
  WriteTo(file, "last\n");
  EXPECT_THAT(by_hand.Read(), ElementsAre("last"));
  EXPECT_LE(by_hand.turns, 2) << "a hole was read";
}

// Some programs give a file its final size first.
TEST(LogFiles, TheRoomAfterTheTextIsLeftForLaterLines) {
  FilesByHand by_hand;
  const Path file = by_hand.File("output.log");
  WriteTo(file, "");
  std::filesystem::resize_file(file, 1 << 20);
  std::fstream program(file, std::ios::in | std::ios::out);
  program << "first\n" << std::flush;
  EXPECT_THAT(by_hand.Read(), ElementsAre("first"));
  program << "second\nhalf" << std::flush;
  EXPECT_THAT(by_hand.Read(), ElementsAre("second"));
  EXPECT_EQ(by_hand.files.End(by_hand.take).files, 0u);
  EXPECT_EQ(by_hand.lines.back(), "half");
}

TEST(LogFiles, TellsWhatIsLeftOfALargeFile) {
  FilesByHand by_hand;
  constexpr size_t kLines = 9000;
  const std::string line = std::string(1023, 'x') + "\n";
  std::string text;
  for (size_t i = 0; i < kLines; ++i) text += line;
  WriteTo(by_hand.File("output.log"), text);
  EXPECT_FALSE(by_hand.files.Read(by_hand.take));
  const LogFiles::Unread unread = by_hand.files.End(by_hand.take);
  EXPECT_EQ(unread.bytes, (kLines - by_hand.lines.size()) * line.size());
  EXPECT_GT(unread.bytes, 0u);
}

TEST_F(LogFileLauncherTest, LinesAreEntriesWhileTheReplicaRuns) {
  const Path directory = Start();
  WriteTo(directory / "other.log", "not this\n");
  WriteTo(directory / "output.log", "step 1\n\n{\"severity\":\"ERROR\",\"message\":\"m\"}\n");
  ASSERT_TRUE(sink_.AwaitMessage("\"m\""));
  WriteTo(directory / "output.log", "step 2\n");
  ASSERT_TRUE(sink_.AwaitMessage("step 2"));
  const auto lines = sink_.Lines();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].message, "step 1");
  EXPECT_EQ(lines[0].payload, run::Payload::kText);
  EXPECT_EQ(lines[0].severity, engine::Severity::kDefault);
  EXPECT_EQ(lines[0].task, "worker-replica-0");
  EXPECT_EQ(lines[0].run, AKey().run);
  EXPECT_EQ(lines[1].payload, run::Payload::kObject);
  EXPECT_EQ(lines[1].severity, engine::Severity::kError);
}

TEST_F(LogFileLauncherTest, TheRestIsReadBeforeTheEnd) {
  const Path directory = Start();
  WriteTo(directory / "output.log", "one\nhalf");
  ASSERT_TRUE(sink_.AwaitMessage("one"));
  WriteTo(directory / "output.log", " a line\nthe last, \xff, has no line break");
  EXPECT_THAT(End(),
              ElementsAre("one", "half a line", "the last, \xEF\xBF\xBD, has no line break"));
}

TEST_F(LogFileLauncherTest, AFileThatIsRenamedReplacedOrDeletedLosesNothing) {
  const Path directory = Start();
  const Path file = directory / "output.log";
  WriteTo(file, "a\n");
  ASSERT_TRUE(sink_.AwaitMessage("a"));
  sink_.Shut(true);  // nothing more is read until all of this has happened
  WriteTo(file, "b\n");
  std::filesystem::rename(file, directory / "output.log.1");  // as a rotation does
  WriteTo(directory / "new", "c\n");
  std::filesystem::rename(directory / "new", file);
  sink_.Shut(false);
  ASSERT_TRUE(sink_.AwaitMessage("c"));
  sink_.Shut(true);
  WriteTo(file, "d\n");
  WriteTo(directory / "new", "e\n");
  std::filesystem::rename(directory / "new", file);  // over the old one
  sink_.Shut(false);
  ASSERT_TRUE(sink_.AwaitMessage("e"));
  std::filesystem::rename(file, directory / "output-2.log");  // the same file
  WriteTo(directory / "output-2.log", "f\n");
  EXPECT_THAT(End(), ElementsAre("a", "b", "c", "d", "e", "f"));
}

TEST_F(LogFileLauncherTest, AFileThatIsEmptiedBeginsAgain) {
  const Path directory = Start();
  WriteTo(directory / "output.log", "a long line\nhalf");
  ASSERT_TRUE(sink_.AwaitMessage("a long line"));
  WriteTo(directory / "output.log", "new\n", std::ios::trunc);
  EXPECT_THAT(End(), ElementsAre("a long line", "half", "new"));
}

TEST_F(LogFileLauncherTest, ManyFilesAreReadAlsoIfNoDescriptorIsFreeAtTheEnd) {
  const Path directory = Start();
  constexpr size_t kFiles = 200;
  {
    for (size_t i = 0; i < kFiles; ++i) {
      WriteTo(directory / ("output-" + std::to_string(i) + ".log"), std::to_string(i) + "\n");
    }
    const NoDescriptors none;
    hand_->listeners.back().on_exit(ExitOfHand(AKey()));
  }
  EXPECT_EQ(AwaitEnd().size(), kFiles);
}

// Of files that are not open, nothing can be read once they are deleted.
TEST_F(LogFileLauncherTest, TheLogReportsFilesWhoseEndsMayBeMissing) {
  const Path directory = Start();
  std::vector<std::string> texts;
  for (int i = 100; i < 170; ++i) texts.push_back(std::to_string(i));
  const auto file = [&](const std::string& text) { return directory / ("output" + text + ".log"); };
  for (const std::string& text : texts) WriteTo(file(text), text + "\n");
  for (const std::string& text : texts) ASSERT_TRUE(sink_.AwaitMessage(text));
  for (const std::string& text : texts) std::filesystem::remove(file(text));
  const auto messages = End();
  ASSERT_EQ(messages.size(), texts.size() + 1);
  EXPECT_THAT(messages.back(), HasSubstr("6 of the others were deleted or renamed"));
  EXPECT_EQ(sink_.Lines().back().task, run::kServiceTask);
  EXPECT_EQ(sink_.Lines().back().severity, engine::Severity::kWarning);
}

TEST_F(LogFileLauncherTest, TheEndWaitsNoLongerThanItsBound) {
  launcher_.reset();
  Serve(Duration(0));
  const Path directory = Start();
  WriteTo(directory / "output.log", "a line\n");
  ASSERT_TRUE(sink_.AwaitMessage("a line"));
  const NoDescriptors none;  // the directory cannot be read, for as long as the test waits
  const auto messages = End();
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_THAT(messages.back(), HasSubstr("were not read before the replica ended"));
}

TEST_F(LogFileLauncherTest, NoReplicaStartsWhoseFilesNothingCouldRead) {
  std::vector<engine::ReplicaExit> exits;
  {
    const NoThreads none;
    launcher_->Launch(AShell(""),
                      {[](const engine::ReplicaKey&) {},
                       [&](const engine::ReplicaExit& exit) { exits.push_back(exit); }});
  }
  EXPECT_TRUE(hand_->launches.empty());
  ASSERT_EQ(exits.size(), 1u);
  EXPECT_EQ(exits[0].key, AKey());
  EXPECT_TRUE(exits[0].start_may_pass);
  EXPECT_THAT(exits[0].start_error, HasSubstr("cannot start a thread"));
  EXPECT_THAT(sink_.Messages(), ElementsAre(HasSubstr("This replica did not start")));
  WriteTo(Start() / "output.log", "the next one\n");
  EXPECT_EQ(End().back(), "the next one");
}

TEST_F(LogFileLauncherTest, MoreThanOneTurnReadsIsReadWhole) {
  const Path directory = Start();
  constexpr size_t kLines = 100'000;
  std::string text;
  for (size_t i = 0; i < kLines; ++i) text += std::string(100, 'x') + "\n";
  WriteTo(directory / "output.log", text);
  EXPECT_EQ(End().size(), kLines);
}

// Links lead this process to files of the host.
TEST_F(LogFileLauncherTest, OnlyRegularFilesAreRead) {
  const Path directory = Start();
  const Path secret = root_.path() / "secret";
  WriteTo(secret, "a secret of the host\n");
  std::filesystem::create_symlink(secret, directory / "output-1.log");
  ASSERT_EQ(::mkfifo((directory / "output-2.log").c_str(), 0600), 0);
  std::filesystem::create_directory(directory / "output-3.log");
  WriteTo(directory / "output-4.log", "a line\n");
  EXPECT_THAT(End(), ElementsAre("a line"));
}

TEST_F(LogFileLauncherTest, AKeptDiskIsReadOnAndAFreshOneIsEmpty) {
  const Path first = Start();
  WriteTo(first / "output.log", "a\n");
  EXPECT_THAT(End(), ElementsAre("a"));
  const Path second = Start(/*fresh_disk=*/false, AKey(0, 2));
  EXPECT_EQ(second, first);
  WriteTo(second / "output.log", "b\n");
  EXPECT_THAT(End(), ElementsAre("a", "b"));
  const Path third = Start(/*fresh_disk=*/true, AKey(0, 3));
  EXPECT_NE(third, first);
  EXPECT_TRUE(std::filesystem::is_empty(third));
  WriteTo(third / "output.log", "a\n");
  EXPECT_THAT(End(), ElementsAre("a", "b", "a"));
}

TEST_F(LogFileLauncherTest, TheDirectoryIsDeletedWithTheRun) {
  const Path directory = Start();
  End();
  launcher_->Discard(AKey().run);
  Start();
  End();  // the reading thread does one thing after the other
  EXPECT_FALSE(std::filesystem::exists(directory));
}

TEST_F(LogFileLauncherTest, OtherRunsPassItBy) {
  engine::ReplicaKey key = AKey();
  key.run.project = "other";
  EXPECT_EQ(Start(true, key), "");
  hand_->listeners.back().on_exit(ExitOfHand(key));
  EXPECT_THAT(AwaitEnd(), IsEmpty());
}

TEST_F(LogFileLauncherTest, AVolumeInItsPlaceStays) {
  auto launch = AShell("");
  launch.volumes = {{"/srv/logs", "/var"}};
  launcher_->Launch(std::move(launch), {[](const engine::ReplicaKey&) {}, {}});
  EXPECT_EQ(hand_->launches.back().volumes, (std::vector<engine::Volume>{{"/srv/logs", "/var"}}));
}

TEST(LogFileLauncherOnMachines, ReadsWhatAMachineWrites) {
  LaunchWorld world{{}, Interposition::Kind::kSeccomp, /*own_roots=*/true};
  if (const auto why_not = TryMachine(LauncherProgram(), world.state.path())) {
    GTEST_SKIP() << "replicas cannot have machines here: " << *why_not;
  }
  std::mutex mutex;
  std::condition_variable changed;
  bool has_ended = false;
  LogFileLauncher launcher(
      std::move(world.launcher),
      {world.state.path() / "disks" / ".log-storage", [](const engine::RunKey&) { return true; }},
      world.sink, world.clock);
  auto launch = AShell("echo printed; echo first > /var/log-storage/output-1.log; sleep 600");
  launch.machine.host_name = "host-0";
  launch.user_directories = {"tmp", "var/log-storage"};
  launch.isolation = engine::ReplicaIsolation{std::make_shared<engine::RunNetwork>(), "10.128.0.2",
                                              "127.0.0.1 localhost\n"};
  launcher.Launch(std::move(launch), {[](const engine::ReplicaKey&) {},
                                      [&](const engine::ReplicaExit&) {
                                        const std::lock_guard lock(mutex);
                                        has_ended = true;
                                        changed.notify_all();
                                      }});
  EXPECT_TRUE(world.sink.AwaitMessage("first")) << "while the replica runs";
  EXPECT_TRUE(world.sink.AwaitMessage("printed"));
  launcher.Kill(AKey());
  std::unique_lock lock(mutex);
  EXPECT_TRUE(changed.wait_for(lock, std::chrono::seconds(30), [&] { return has_ended; }));
}

}  // namespace
}  // namespace caip::host
