// Replicas that wait at each write until it was decided what happens there.

#include <dirent.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <set>

#include "host/process/orphans.h"
#include "host/watch/call_source.h"
#include "tests/host/launch_world.h"

namespace caip::host {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Answer = ReplicaWatcher::Answer;

/// Lets everything go on, but for what a test puts in.
class OutputWatcher final : public ReplicaWatcher {
 public:
  std::function<Answer(int nth)> on_output = [](int) { return Answer::kGoOn; };
  std::function<void(const FileOperation&)> on_before = [](const FileOperation&) {};
  std::function<void()> on_gone = [] {};

  Answer OutputSeen(const engine::ReplicaKey&) override { return on_output(++outputs); }
  Verdict Before(const engine::ReplicaKey&, const FileOperation& operation) override {
    on_before(operation);
    return {};
  }
  Verdict After(const engine::ReplicaKey&, const FileOperation&, int) override { return {}; }
  void Gone(const engine::ReplicaKey&) override { on_gone(); }
  std::atomic<int> outputs = 0;
};

engine::ReplicaLaunch APython(const std::string& program) {
  auto launch = AShell("");
  launch.program = run::LocalCommand{{"python3", "-c", program}};
  return launch;
}

size_t EntriesOf(const char* directory) {
  size_t count = 0;
  DIR* open = ::opendir(directory);
  while (::readdir(open)) ++count;
  ::closedir(open);
  return count;
}
size_t Threads() { return EntriesOf("/proc/self/task"); }
size_t Descriptors() { return EntriesOf("/proc/self/fd"); }

bool Await(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

class LockStep : public ::testing::TestWithParam<Interposition::Kind> {
 protected:
  LockStep() { world.launcher->Watch({.output = true}, watcher); }
  Path Disk(const std::string& name) const {
    return Path(world.launcher->BootDisk(AKey())) / "user_dir" / name;
  }
  OutputWatcher watcher;
  LaunchWorld world{{}, GetParam()};
};

TEST_P(LockStep, TellsOfALineBeforeTheProgramTakesItsNextStep) {
  std::vector<size_t> lines;
  std::vector<bool> has_gone_on;
  watcher.on_output = [&](int nth) {
    lines.push_back(world.sink.Lines().size());
    has_gone_on.push_back(std::filesystem::exists(Disk(std::to_string(nth))));
    return Answer::kGoOn;
  };
  world.Run(
      APython("for i in range(1, 201):\n  print('line', i, flush=True)\n  open(str(i), 'w')"));
  ASSERT_EQ(lines.size(), 200u);
  for (size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(lines[i], i + 1);
  EXPECT_THAT(has_gone_on, Each(false));
  EXPECT_TRUE(std::filesystem::exists(Disk("200")));
}

/// Programs that pass on the lines of another, which writes a file after each.
class ForwardedLines : public LockStep {
 protected:
  ForwardedLines() {
    world.launcher->Watch({.output = true, .roots = {files_.path().string()}}, watcher);
    watcher.on_before = [this](const FileOperation& operation) {
      if (operation.kind != FileOperation::Kind::kCreate) return;
      const auto lines = world.sink.Messages();
      seen_.push_back(Path(operation.path).filename().string() + " after " +
                      (lines.empty() ? "nothing" : lines.back()));
    };
  }
  /// The files, each with the last line at that time.
  std::vector<std::string> Seen(engine::ReplicaLaunch launch) {
    world.Run(std::move(launch));
    return seen_;
  }
  std::string Loop() const {
    return "for i in 1 2 3 4 5 6; do echo line $i; : > " + files_.path().string() + "/$i; done";
  }

  TemporaryDirectory files_;
  std::vector<std::string> seen_;
};

const std::vector<std::string> kEachAfterItsLine = {"1 after line 1", "2 after line 2",
                                                    "3 after line 3", "4 after line 4",
                                                    "5 after line 5", "6 after line 6"};

TEST_P(ForwardedLines, ArriveBeforeTheNextStepThroughAPipe) {
  EXPECT_EQ(Seen(APython("import subprocess\n"
                         "loop = subprocess.Popen(['sh', '-c', '" +
                         Loop() +
                         "'], stdout=-1)\n"
                         "for line in loop.stdout:\n"
                         "  sum(range(1000000))\n"
                         "  print(line.decode(), end='', flush=True)")),
            kEachAfterItsLine);
}

TEST_P(ForwardedLines, ArriveBeforeTheNextStepThroughATerminal) {
  EXPECT_EQ(Seen(AShell("script -qec '" + Loop() + "' /dev/null")), kEachAfterItsLine);
}

TEST_P(ForwardedLines, AreNotAwaitedForeverFromABusyProgram) {
  EXPECT_EQ(Seen(AShell("mkfifo lines; (" + Loop() + ") > lines & cat < lines > /dev/null &" +
                        " while [ ! -e " + files_.path().string() + "/6 ]; do :; done"))
                .size(),
            6u);
}

INSTANTIATE_TEST_SUITE_P(Each, ForwardedLines, kInterpositions, NameOfInterposition);

TEST_P(LockStep, HoldsThreadsAndChildrenOneAtATime) {
  std::atomic<int> at_once = 0;
  watcher.on_output = [&](int nth) {
    EXPECT_EQ(++at_once, 1);
    EXPECT_EQ(world.sink.Lines().size(), static_cast<size_t>(nth));
    --at_once;
    return Answer::kGoOn;
  };
  world.Run(
      APython("import os, subprocess, sys, threading\n"
              "def work(n):\n"
              "  for i in range(100): os.write(1 + n % 2, b'thread %d line %d\\n' % (n, i))\n"
              "threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]\n"
              "for t in threads: t.start()\n"
              "subprocess.run(['sh', '-c', 'i=0; while [ $i -lt 100 ]; do echo shell line $i; "
              "i=$((i+1)); done; exec 3>&1; (echo from a dup >&3)'])\n"
              "for t in threads: t.join()"));
  EXPECT_EQ(watcher.outputs, 501);
  const auto messages = world.sink.Messages();
  EXPECT_EQ(std::set<std::string>(messages.begin(), messages.end()).size(), 501u);
}

TEST_P(LockStep, TakesPartsOfLinesAndBytesThatAreNoText) {
  std::vector<size_t> lines;
  watcher.on_output = [&](int) {
    lines.push_back(world.sink.Lines().size());
    return Answer::kGoOn;
  };
  world.Run(
      APython("import os\n"
              "for part in b'one', b' line\\nand ', b'\\xff\\n', b'', b'last':\n"
              "  assert os.write(1, part) == len(part)\n"
              "assert os.writev(2, [b'a', b'', b'b\\n']) == 3"));
  EXPECT_THAT(lines, ElementsAre(0u, 1u, 2u, 2u, 3u));
  EXPECT_THAT(world.sink.Messages(), ElementsAre("one line", "and \xEF\xBF\xBD", "ab", "last"));
}

TEST_P(LockStep, TakesAWriteLargerThanAnyPipe) {
  world.Run(
      APython("import os\n"
              "text = b'x' * 99_999 + b'\\n'\n"
              "assert os.write(1, text * 50) == 5_000_000"));
  EXPECT_EQ(world.sink.Lines().size(), 50u);
  EXPECT_EQ(watcher.outputs, 1);
}

TEST_P(LockStep, LeavesWritesToFilesAndWrongOnesToTheKernel) {
  const auto exit =
      world.Run(APython("import os, ctypes, errno\n"
                        "open('f', 'wb', 0).write(b'abc')\n"
                        "assert open('f').read() == 'abc'\n"
                        "libc = ctypes.CDLL(None, use_errno=True)\n"
                        "assert libc.write(1, ctypes.c_void_p(8), 5) == -1\n"
                        "assert ctypes.get_errno() == errno.EFAULT\n"
                        "assert libc.write(77, b'x', 1) == -1\n"
                        "assert ctypes.get_errno() == errno.EBADF\n"
                        "try: os.sendfile(1, os.open('f', os.O_RDONLY), 0, 3)\n"
                        "except OSError as e: os._exit(e.errno)"));
  EXPECT_EQ(exit.exit_code, EINVAL) << ::testing::PrintToString(world.sink.Messages());
  EXPECT_EQ(watcher.outputs, 0);
}

TEST_P(LockStep, NeverAnswersTheCallAtWhichAReplicaIsKilled) {
  const size_t threads = Threads();
  const size_t descriptors = Descriptors();
  for (int boot = 1; boot <= 5; ++boot) {
    watcher.on_output = [&, boot](int) {
      world.launcher->Kill(AKey(0, boot));
      return Answer::kNever;
    };
    auto launch = APython("import os\nos.write(1, b'x\\n')\nos.mkdir('went_on')");
    launch.key.boot = boot;
    const auto exit = world.Run(std::move(launch));
    EXPECT_EQ(exit.signal, SIGKILL);
    EXPECT_FALSE(std::filesystem::exists(Disk("went_on")));
  }
  EXPECT_EQ(world.sink.Lines().size(), 5u);
  // The last thread may still be on its way out.
  EXPECT_TRUE(Await([&] { return Threads() <= threads && Descriptors() <= descriptors; }))
      << Threads() << " threads, " << threads << " before; " << Descriptors() << " descriptors, "
      << descriptors << " before";
}

TEST_P(LockStep, CanBeKilledWhileItIsHeld) {
  std::promise<void> held;
  std::promise<void> gone;
  watcher.on_gone = [&] { gone.set_value(); };
  watcher.on_output = [&](int) {
    held.set_value();
    gone.get_future().wait();
    return Answer::kGoOn;
  };
  world.Launch(APython("import os\nos.write(1, b'x\\n')\nos.mkdir('went_on')"));
  held.get_future().wait();
  EXPECT_EQ(world.ExitCount(), 0u);
  world.launcher->Kill(AKey());
  EXPECT_EQ(world.AwaitExits(1).back().signal, SIGKILL);
  EXPECT_FALSE(std::filesystem::exists(Disk("went_on")));
}

TEST_P(LockStep, StaysFrozenWhenTheCallThatHeldItIsAnswered) {
  std::promise<void> answered;
  watcher.on_output = [&](int nth) {
    if (nth > 1) return Answer::kGoOn;
    std::promise<void> frozen;
    world.launcher->Freeze(AKey(), [&] { frozen.set_value(); });
    frozen.get_future().wait();
    answered.set_value();
    return Answer::kGoOn;
  };
  world.Launch(APython("import os\nos.write(1, b'x\\n')\nos.mkdir('d')\nos.write(1, b'y\\n')"));
  answered.get_future().wait();
  std::promise<void> frozen;  // a second time, so that it has had the time to go on if it could
  world.launcher->Freeze(AKey(), [&] { frozen.set_value(); });
  frozen.get_future().wait();
  EXPECT_FALSE(std::filesystem::exists(Disk("d")));
  world.launcher->Thaw(AKey());
  EXPECT_EQ(world.AwaitExits(1).back().exit_code, 0);
  EXPECT_THAT(world.sink.Messages(), ElementsAre("x", "y"));
}

TEST_P(LockStep, CostsNothingWhereNothingIsWatched) {
  const auto script = "grep ^Seccomp: /proc/self/status; echo \"preloaded: $LD_PRELOAD\"";
  world.launcher->Watch({}, watcher);
  world.Run(AShell(script));
  EXPECT_THAT(world.sink.Messages(), ElementsAre("Seccomp:\t0", "preloaded: "));
  EXPECT_EQ(watcher.outputs, 0);
  world.launcher->Watch({.output = true}, watcher);
  world.Run(AShell(script, AKey(0, 2)));
  const bool by_kernel = GetParam() == Interposition::Kind::kSeccomp;
  const std::string library = by_kernel ? "" : OwnPreloadLibrary().string();
  EXPECT_THAT(world.sink.Messages(),
              ElementsAre("Seccomp:\t0", "preloaded: ", by_kernel ? "Seccomp:\t2" : "Seccomp:\t0",
                          "preloaded: " + library));
  EXPECT_EQ(watcher.outputs, by_kernel ? 2 : 1);  // grep's own stream goes past a library
}

TEST_P(LockStep, SaysWhyAProgramCannotBeStarted) {
  auto launch = AShell("");
  launch.program = run::LocalCommand{{"/no/such/python"}};
  EXPECT_EQ(world.Run(launch).start_error,
            "cannot run '/no/such/python': No such file or directory");
}

TEST_P(LockStep, LeavesNothingWhenItsLauncherIsDestroyedWhileACallIsHeld) {
  std::promise<void> held;
  std::promise<void> gone;
  watcher.on_gone = [&] { gone.set_value(); };
  watcher.on_output = [&](int) {
    held.set_value();
    gone.get_future().wait();
    return Answer::kGoOn;
  };
  world.Launch(APython("print('x', flush=True)\nwhile True: pass"));
  held.get_future().wait();
  world.launcher.reset();
  EXPECT_THAT(FindReplicas(StateId(world.state.path())), IsEmpty());
}

TEST(LockStepAlone, LeavesNothingWhenTheEmulatorIsKilledWhileACallIsHeld) {
  TemporaryDirectory state;
  int told[2];
  ASSERT_EQ(::pipe(told), 0);
  const pid_t emulator = ::fork();
  if (emulator == 0) {
    OutputWatcher watcher;
    watcher.on_output = [&](int) {
      if (::write(told[1], "x", 1) == 1) ::pause();
      return Answer::kGoOn;
    };
    SystemClock clock;
    RecordingSink sink;
    auto launcher = ProcessLauncher::Start({state.path(), LauncherProgram()}, clock, sink);
    (*launcher)->Watch({.output = true}, watcher);
    (*launcher)->Launch(APython("import os\nos.write(1, b'x\\n')\nwhile True: pass"), {});
    for (;;) ::pause();
  }
  char byte;
  ASSERT_EQ(::read(told[0], &byte, 1), 1);
  EXPECT_EQ(FindReplicas(StateId(state.path())).size(), 1u);
  ::kill(emulator, SIGKILL);
  ::waitpid(emulator, nullptr, 0);
  EXPECT_TRUE(Await([&] { return FindReplicas(StateId(state.path())).empty(); }));
}

INSTANTIATE_TEST_SUITE_P(Held, LockStep, kInterpositions, NameOfInterposition);

}  // namespace
}  // namespace caip::host
