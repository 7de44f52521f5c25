// Watched files that several processes have open, or that are closed without close().

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/host/launch_world.h"

namespace caip::host {
namespace {

using ::testing::ElementsAre;
using Kind = FileOperation::Kind;

/// Lets everything go on, and notes what takes effect, in words.
class ClosesWatcher final : public ReplicaWatcher {
 public:
  std::vector<std::string> heard;  // the replica's thread, read after its end

  Answer OutputSeen(const engine::ReplicaKey&) override {
    heard.push_back("line");
    return Answer::kGoOn;
  }
  Verdict Before(const engine::ReplicaKey&, const FileOperation&) override { return {}; }
  Verdict After(const engine::ReplicaKey&, const FileOperation& operation, int) override {
    const std::string name = Path(operation.path).filename().string();
    if (operation.kind == Kind::kCreate) heard.push_back("create " + name);
    if (operation.kind == Kind::kMakeDirectory) heard.push_back("mkdir " + name);
    if (operation.kind == Kind::kWrite) {
      heard.push_back("write " + name + " " + std::to_string(operation.count));
    }
    if (operation.kind == Kind::kWhole) {
      heard.push_back("whole " + name + " of " + std::to_string(operation.bytes));
    }
    return {};
  }
  void Gone(const engine::ReplicaKey&) override {}
};

class ClosedFiles : public ::testing::TestWithParam<Interposition::Kind> {
 protected:
  ClosedFiles() {
    const std::string root = std::filesystem::canonical(watched_.path());
    world_.launcher->Watch({.output = true, .roots = {root}}, watcher_);
  }

  /// What happens when the program runs in the directory.
  const std::vector<std::string>& Python(const std::string& program) {
    auto launch = AShell("");
    launch.program = run::LocalCommand{{"python3", "-c",
                                        "import ctypes, os, signal, subprocess, sys, threading\n"
                                        "os.chdir(os.environ['B'])\n" +
                                            program}};
    launch.environment.emplace_back("B", std::filesystem::canonical(watched_.path()));
    EXPECT_EQ(world_.Run(std::move(launch)).exit_code, 0)
        << ::testing::PrintToString(world_.sink.Messages());
    return watcher_.heard;
  }

  TemporaryDirectory watched_;
  ClosesWatcher watcher_;
  LaunchWorld world_{{}, GetParam()};
};

TEST_P(ClosedFiles, AreAllReportedWhileAnotherThreadStartsPrograms) {
  constexpr int kFiles = 150;
  const auto& heard = Python(
      "def write():\n"
      "  for i in range(150):\n"
      "    with open(f'f{i}', 'w') as f: f.write('x' * 100)\n"
      "writer = threading.Thread(target=write)\n"
      "writer.start()\n"
      "while writer.is_alive():\n"
      "  subprocess.run(['/bin/true'])\n"
      "  os.waitpid(os.posix_spawn('/bin/true', ['true'], os.environ), 0)\n"
      "writer.join()");
  for (int i = 0; i < kFiles; ++i) {
    const std::string whole = "whole f" + std::to_string(i) + " of 100";
    EXPECT_EQ(std::count(heard.begin(), heard.end(), whole), 1) << whole;
  }
}

TEST_P(ClosedFiles, AreReportedWhenAForkedProcessThatHadThemOpenWasKilled) {
  EXPECT_THAT(
      Python("f = open('ckpt', 'w')\n"
             "f.write('x' * 50)\n"
             "pid = os.fork()\n"
             "if pid == 0: signal.pause()\n"
             "f.close()\n"
             "print('closed', flush=True)\n"
             "os.kill(pid, signal.SIGKILL)\n"
             "os.waitpid(pid, 0)\n"
             "print('reaped', flush=True)\n"
             "os.mkdir('d')"),
      ElementsAre("create ckpt", "write ckpt 50", "line", "whole ckpt of 50", "line", "mkdir d"));
}

TEST_P(ClosedFiles, AreReportedWhenAForkedProcessThatHadThemOpenStartsAProgram) {
  EXPECT_THAT(Python("r, w = os.pipe()\n"
                     "f = open('ckpt', 'w')\n"
                     "f.write('abc')\n"
                     "pid = os.fork()\n"
                     "if pid == 0:\n"
                     "  os.read(r, 1)\n"
                     "  os.execv('/bin/true', ['true'])\n"
                     "f.close()\n"
                     "os.mkdir('d')\n"
                     "os.write(w, b'x')\n"
                     "os.waitpid(pid, 0)\n"
                     "os.mkdir('e')"),
              ElementsAre("create ckpt", "write ckpt 3", "mkdir d", "whole ckpt of 3", "mkdir e"));
}

TEST_P(ClosedFiles, AreNotReportedWhileAProgramHasThemAsItsOutput) {
  EXPECT_THAT(Python("with open('f', 'wb', 0) as f:\n"
                     "  child = subprocess.Popen(['/bin/sh', '-c', 'read go; echo x'],\n"
                     "                           stdin=subprocess.PIPE, stdout=f)\n"
                     "os.mkdir('d')\n"
                     "child.communicate(b'go\\n')\n"
                     "os.mkdir('e')"),
              ElementsAre("create f", "mkdir d", "write f 2", "whole f of 2", "mkdir e"));
}

TEST_P(ClosedFiles, AreReportedWhenTheirProcessStartsAProgram) {
  EXPECT_THAT(Python("f = open('f', 'wb', 0)\n"
                     "f.write(b'abc')\n"
                     "os.execv('/bin/true', ['true'])"),
              ElementsAre("create f", "write f 3", "whole f of 3"));
}

TEST_P(ClosedFiles, StayOpenWhenTheirProcessCannotStartAProgram) {
  EXPECT_THAT(
      Python("f = open('f', 'wb', 0)\n"
             "f.write(b'abc')\n"
             "try: os.execv('/missing', ['missing'])\n"
             "except FileNotFoundError: pass\n"
             "f.write(b'de')\n"
             "os.mkdir('d')\n"
             "f.close()"),
      ElementsAre("create f", "write f 3", "whole f of 3", "write f 2", "mkdir d", "whole f of 2"));
}

TEST_P(ClosedFiles, AreReportedWhenARangeOfDescriptorsIsClosed) {
  EXPECT_THAT(Python("f = os.open('f', os.O_CREAT | os.O_WRONLY)\n"
                     "os.write(f, b'abc')\n"
                     "close_range = ctypes.CDLL(None).close_range\n"
                     "assert close_range(f, f, 4) == 0\n"  // CLOSE_RANGE_CLOEXEC: only later
                     "os.mkdir('d')\n"
                     "assert close_range(f, f, 0) == 0\n"
                     "os.mkdir('e')"),
              ElementsAre("create f", "write f 3", "mkdir d", "whole f of 3", "mkdir e"));
}

TEST_P(ClosedFiles, AreReportedWhenTheirProcessEndsWithoutAWatchedCall) {
  EXPECT_THAT(Python("exit = 60 if os.uname().machine == 'x86_64' else 93\n"
                     "ends = [lambda: os.kill(os.getpid(), signal.SIGKILL),\n"
                     "        lambda: ctypes.CDLL(None).syscall(exit, 0)]\n"
                     "for name, end in zip('fg', ends):\n"
                     "  pid = os.fork()\n"
                     "  if pid == 0:\n"
                     "    f = os.open(name, os.O_CREAT | os.O_WRONLY)\n"
                     "    os.write(f, b'abc')\n"
                     "    end()\n"
                     "  os.waitpid(pid, 0)\n"
                     "  os.mkdir(name + 'd')"),
              ElementsAre("create f", "write f 3", "whole f of 3", "mkdir fd", "create g",
                          "write g 3", "whole g of 3", "mkdir gd"));
}

INSTANTIATE_TEST_SUITE_P(Held, ClosedFiles, kInterpositions, NameOfInterposition);

}  // namespace
}  // namespace caip::host
