// Watched calls that set modes and times, and files that are made through links without targets.
// The answers are those of the kernel.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cstdio>
#include <string>
#include <vector>

#include "tests/host/launch_world.h"

namespace caip::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr time_t kEarly = 1000;  // a program chose a time before it

/// Lets everything go on. Notes the files that are made, and the attributes that files have when a
/// change of them is reported: "f 640 2" is a mode and the second of the last write, which is "now"
/// if no program chose it.
class AttributesWatcher final : public ReplicaWatcher {
 public:
  Path root;
  std::vector<std::string> made;  // both: the replica's thread, read after its end
  std::vector<std::string> set;

  Answer OutputSeen(const engine::ReplicaKey&) override { return Answer::kGoOn; }
  Verdict Before(const engine::ReplicaKey&, const FileOperation&) override { return {}; }
  Verdict After(const engine::ReplicaKey&, const FileOperation& operation, int error) override {
    const std::string name = Path(operation.path).lexically_relative(root);
    const bool opens = operation.kind == FileOperation::Kind::kCreate;
    if (opens && error == 0) made.push_back(name);
    if (operation.kind != FileOperation::Kind::kAttributes) return {};
    struct stat status {};
    EXPECT_EQ(::lstat(operation.path.c_str(), &status), 0) << operation.path;
    char mode[8];
    std::snprintf(mode, sizeof mode, "%o", status.st_mode & 07777);
    const time_t written = status.st_mtim.tv_sec;
    set.push_back(name + " " + mode + " " + (written < kEarly ? std::to_string(written) : "now") +
                  (error ? " failed " + std::to_string(error) : ""));
    return {};
  }
  void Gone(const engine::ReplicaKey&) override {}
};

class WatchedAttributes : public ::testing::TestWithParam<Interposition::Kind> {
 protected:
  WatchedAttributes() {
    watcher_.root = std::filesystem::canonical(watched_.path());
    world_.launcher->Watch({.changed_roots = {watcher_.root}}, watcher_);
  }

  /// What the program prints that runs in the directory.
  std::vector<std::string> Python(const TemporaryDirectory& directory, const std::string& program) {
    const size_t before = world_.sink.Messages().size();
    auto launch = AShell("", AKey(0, ++boot_));
    launch.program = run::LocalCommand{
        {"python3", "-c", "import errno, os\nos.chdir(os.environ['B'])\n" + program}};
    launch.environment.emplace_back("B", std::filesystem::canonical(directory.path()));
    const auto exit = world_.Run(std::move(launch));
    auto messages = world_.sink.Messages();
    EXPECT_EQ(exit.exit_code, 0) << ::testing::PrintToString(messages);
    return {messages.begin() + static_cast<std::ptrdiff_t>(before), messages.end()};
  }
  /// The program prints the same in a watched directory as in another one.
  void ExpectTheSame(const std::string& program) {
    const auto of_kernel = Python(other_, program);
    EXPECT_THAT(of_kernel, Not(IsEmpty()));
    EXPECT_EQ(Python(watched_, program), of_kernel);
  }

  TemporaryDirectory watched_;
  TemporaryDirectory other_;
  AttributesWatcher watcher_;
  LaunchWorld world_{{}, GetParam()};
  int boot_ = 0;
};

TEST_P(WatchedAttributes, AreReportedWhenTheyAreSet) {
  Python(watched_,
         "fd = os.open('f', os.O_CREAT | os.O_RDWR)\n"
         "os.chmod('f', 0o640)\n"
         "os.fchmod(fd, 0o600)\n"
         "os.utime('f', ns=(1000000001, 2000000002))\n"
         "os.rename('f', 'g')\n"
         "os.utime(fd, (3, 4))\n"
         "os.close(fd)\n"
         "os.utime('g')\n"
         "os.mkdir('d')\n"
         "os.chmod('d', 0o700)\n"
         "os.utime(os.open('d', os.O_RDONLY), (5, 6))\n"
         "os.symlink('g', 'link')\n"
         "os.utime('link', (7, 8), follow_symlinks=False)\n"
         "os.chmod('link', 0o604)\n");
  EXPECT_THAT(watcher_.set, ElementsAre("f 640 now", "f 600 now", "f 600 2", "g 600 4", "g 600 now",
                                        "d 700 now", "d 700 6", "g 604 now"));
}

#ifdef SYS_utime  // not on arm64
TEST_P(WatchedAttributes, AreReportedOfTheOldCalls) {
  if (GetParam() == Interposition::Kind::kPreload) {
    GTEST_SKIP() << "the library does not see direct system calls";
  }
  Python(watched_,
         "import ctypes, struct\n"
         "call = ctypes.CDLL(None).syscall\n"
         "open('f', 'w').close()\n"
         "assert call(" +
             std::to_string(SYS_chmod) +
             ", b'f', 0o640) == 0\n"
             "assert call(" +
             std::to_string(SYS_utime) +
             ", b'f', struct.pack('qq', 1, 2)) == 0\n"
             "times = struct.pack('qqqq', 3, 0, 4, 999999)\n"
             "assert call(" +
             std::to_string(SYS_utimes) +
             ", b'f', times) == 0\n"
             "times = struct.pack('qqqq', 5, 0, 6, 0)\n"
             "assert call(" +
             std::to_string(SYS_futimesat) +
             ", -100, b'f', times) == 0\n"
             "late = struct.pack('qqqq', 7, 0, 8, 1000000)\n"
             "assert call(" +
             std::to_string(SYS_utimes) + ", b'f', late) == -1\n");
  EXPECT_THAT(watcher_.set, ElementsAre("f 640 now", "f 640 2", "f 640 4", "f 640 6"));
}
#endif

TEST_P(WatchedAttributes, AreSetAsByTheKernel) {
  ExpectTheSame(
      "def facts(name):\n"
      "  status = os.lstat(name)\n"
      "  return name, oct(status.st_mode), min(status.st_mtime_ns, 10**12)\n"
      "def tried(call, *words, **more):\n"
      "  try:\n"
      "    call(*words, **more)\n"
      "    answer = 'done'\n"
      "  except OSError as failure:\n"
      "    answer = errno.errorcode[failure.errno]\n"
      "  print(call.__name__, *words, answer, *map(facts, sorted(os.listdir('.'))))\n"
      "open('f', 'w').close()\n"
      "os.mkdir('d')\n"
      "for target in 'f', 'd', 'none': os.symlink(target, 'l' + target)\n"
      "time = 1\n"
      "for path in 'f', 'f/', 'd', 'd/', 'lf', 'lf/', 'ld', 'ld/', 'lnone', 'none', 'f/x', '':\n"
      "  time += 1\n"
      "  tried(os.chmod, path, 0o700 + time)\n"
      "  tried(os.utime, path, ns=(5, 10**9 * time + 7))\n"
      "  tried(os.utime, path, ns=(5, 10**9 * time + 8), follow_symlinks=False)\n"
      "for flags in os.O_RDONLY, os.O_WRONLY, os.O_PATH:\n"
      "  time += 1\n"
      "  fd = os.open('f', flags)\n"
      "  tried(os.fchmod, fd, 0o6700 + time)\n"
      "  tried(os.utime, fd, ns=(5, 10**9 * time))\n"
      "  os.close(fd)\n"
      "tried(os.fchmod, 99, 0o600)\n");
}

TEST_P(WatchedAttributes, ANewFileHasTheNameToWhichALinkLeads) {
  const std::string program =
      "os.mkdir('d')\n"
      "links = {'in': 'd/file', 'second': 'in', 'd/up': '../above', 'self': 'self',\n"
      "         'lost': 'none/file', 'slash': 'other/', 'whole': os.environ['B'] + '/d/whole'}\n"
      "for name, target in links.items(): os.symlink(target, name)\n"
      "for name in 'second', 'd/up', 'self', 'lost', 'slash', 'whole':\n"
      "  try:\n"
      "    with open(name, 'w') as file: file.write(name)\n"
      "    print(name, 'leads to', os.path.relpath(os.path.realpath(name)), open(name).read())\n"
      "  except OSError as failure:\n"
      "    print(name, errno.errorcode[failure.errno])\n"
      "print(*sorted(os.listdir('.')), *sorted(os.listdir('d')))\n";
  ExpectTheSame(program);
  EXPECT_THAT(watcher_.made, ElementsAre("d/file", "above", "d/whole"));
}

INSTANTIATE_TEST_SUITE_P(Held, WatchedAttributes, kInterpositions, NameOfInterposition);

}  // namespace
}  // namespace caip::host
