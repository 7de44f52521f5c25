// Watched calls of processes that have another user, other groups or other capabilities than caip,
// or a limit for files: the answers and the files are those of the kernel.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "tests/host/launch_world.h"

namespace caip::host {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

/// Lets everything go on, and notes the calls that caip carries out: "f" or "f failed 13".
class NotingErrors final : public ReplicaWatcher {
 public:
  std::vector<std::string> noted;  // the replica's thread, read after its end

  Answer OutputSeen(const engine::ReplicaKey&) override { return Answer::kGoOn; }
  Verdict Before(const engine::ReplicaKey&, const FileOperation&) override { return {}; }
  Verdict After(const engine::ReplicaKey&, const FileOperation& operation, int error) override {
    const std::string name = Path(operation.path).filename();
    noted.push_back(name + (error ? " failed " + std::to_string(error) : ""));
    return {};
  }
  void Gone(const engine::ReplicaKey&) override {}
};

// Makes a directory "base" with files of root, in a directory that only root may search. Other
// users reach "base" as the working directory only.
constexpr char kBegin[] = R"(
import ctypes, errno, os, resource, signal, stat, struct
def made(path, mode, group=0):
  os.mkdir(path)
  os.chown(path, 0, group)
  os.chmod(path, mode)
def filed(path, mode):
  with open(path, 'w') as file: file.write('of root')
  os.chmod(path, mode)
os.chmod(os.environ['B'], 0o700)
os.umask(0o022)
base = os.environ['B'] + '/base'
made(base, 0o755)
os.chdir(base)
made('open', 0o777)
made('sticky', 0o1777)
made('closed', 0o700)
made('group', 0o2770, 77)
made('group/public', 0o2777, 77)
for name in 'secret', 'sticky/secret', 'open/secret', 'closed/f': filed(name, 0o600)
for name in 'public', 'sticky/public', 'closed/public': filed(name, 0o666)
os.symlink('closed/../open', 'through')
libc = ctypes.CDLL(None, use_errno=True)
def become(user, group, groups):
  os.setgroups(groups)
  os.setresgid(group, group, group)
  os.setresuid(user, user, user)
def limit_capabilities(effective, permitted):
  head = struct.pack('Ii', 0x20080522, 0)
  assert libc.capset(head, struct.pack('6I', effective, permitted, 0, 0, 0, 0)) == 0
def opened(path, flags, mode=0o666): os.close(os.open(path, flags, mode))
def tried(call, *words):
  try: answer = call(*words)
  except OSError as failure: answer = errno.errorcode[failure.errno]
  print(call.__name__, *words, answer)
def create(path): tried(opened, path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
def show(*paths):
  for path in paths:
    found = os.lstat(path)
    print(path, found.st_uid, found.st_gid, oct(found.st_mode))
def try_all():
  for place in '.', 'open', 'sticky', 'closed', 'group', 'group/public', 'through', base:
    create(place + '/new')
    tried(os.mkdir, place + '/dir')
    tried(os.symlink, 'text', place + '/link')
    tried(os.rename, place + '/new', place + '/renamed')
    tried(os.link, place + '/renamed', place + '/second')
    tried(os.unlink, place + '/second')
    tried(os.rename, place + '/secret', place + '/mine')
    tried(os.rmdir, place + '/none')
  for path in 'secret', 'public', 'sticky/secret', 'sticky/public', 'closed/public':
    for flags in os.O_RDONLY, os.O_WRONLY | os.O_TRUNC, os.O_RDWR | os.O_CREAT:
      tried(opened, path, flags)
    tried(os.truncate, path, 3)
    tried(os.chmod, path, 0o640)
    tried(os.utime, path, (1, 1))
    tried(os.unlink, path)
def show_all():
  found = []
  for directory, directories, files in os.walk('.'):
    found += [os.path.join(directory, name) for name in directories + files]
  show(*sorted(found))
)";

class CallersOfReplica : public ::testing::TestWithParam<Interposition::Kind> {
 protected:
  CallersOfReplica() {
    const std::string root = std::filesystem::canonical(watched_.path());
    world_.launcher->Watch({.roots = {root}}, watcher_);
  }
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  }

  /// What the program prints that runs in the directory.
  std::vector<std::string> Python(const TemporaryDirectory& directory, const std::string& program) {
    const size_t before = world_.sink.Messages().size();
    auto launch = AShell("", AKey(0, ++boot_));
    launch.program = run::LocalCommand{{"python3", "-c", kBegin + program}};
    launch.environment.emplace_back("B", std::filesystem::canonical(directory.path()));
    EXPECT_EQ(world_.Run(std::move(launch)).exit_code, 0)
        << ::testing::PrintToString(world_.sink.Messages());
    auto messages = world_.sink.Messages();
    for (std::string& message : messages) HidePlace(directory, message);
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
  NotingErrors watcher_;
  LaunchWorld world_{{}, GetParam()};
  int boot_ = 0;

 private:
  static void HidePlace(const TemporaryDirectory& directory, std::string& message) {
    const std::string place = std::filesystem::canonical(directory.path());
    for (size_t at = message.find(place); at != std::string::npos; at = message.find(place)) {
      message.replace(at, place.size(), "B");
    }
  }
};

TEST_P(CallersOfReplica, HaveTheRightsOfTheirUser) {
  ExpectTheSame(
      "if not os.fork():\n"
      "  become(65534, 65534, [])\n  try_all()\n"
      "else:\n"
      "  assert os.wait()[1] == 0\n  show_all()\n");
}

TEST_P(CallersOfReplica, HaveTheRightsOfTheirGroups) {
  ExpectTheSame(
      "if not os.fork():\n"
      "  become(65534, 65533, [65533, 77])\n  try_all()\n"
      "else:\n"
      "  assert os.wait()[1] == 0\n  show_all()\n");
}

TEST_P(CallersOfReplica, MayNotReachTheOtherEndOfARename) {
  ExpectTheSame(
      "import tempfile\n"
      "place = tempfile.mkdtemp()\n"  // not watched, and open to its owner only
      "made(place + '/public', 0o777)\n"
      "filed(place + '/public/f', 0o666)\n"
      "def silent(call, *words):\n"
      "  try: print(call.__name__, call(*words))\n"
      "  except OSError as failure: print(call.__name__, errno.errorcode[failure.errno])\n"
      "if not os.fork():\n"
      "  become(65534, 65534, [])\n"
      "  create('open/own')\n"
      "  silent(os.rename, place + '/public/f', 'open/f')\n"
      "  silent(os.rename, 'open/own', place + '/public/own')\n"
      "  silent(os.link, place + '/public/f', 'open/l')\n"
      "else:\n"
      "  assert os.wait()[1] == 0\n"
      "  import shutil\n  shutil.rmtree(place)\n");
}

TEST_P(CallersOfReplica, MayTakeAnotherUserAndTheirOwnAgain) {
  ExpectTheSame(
      "for i in range(3):\n"
      "  os.setegid(5)\n  os.seteuid(65534)\n"
      "  create(f'open/f{i}')\n  tried(os.mkdir, f'open/d{i}')\n  create(f'f{i}')\n"
      "  os.seteuid(0)\n  os.setegid(0)\n"
      "  create(f'open/g{i}')\n  create(f'g{i}')\n"
      "show_all()\n");
}

TEST_P(CallersOfReplica, MayHaveAnotherUserOrGroupForFilesOnly) {
  ExpectTheSame(
      "libc.setfsgid(77)\ncreate('g')\ntried(os.mkdir, 'd')\n"
      "libc.setfsgid(0)\ncreate('h')\n"
      "libc.setfsuid(65534)\ncreate('open/u')\ncreate('u')\n"
      "libc.setfsuid(0)\ncreate('v')\nshow_all()\n");
}

// 1 is CAP_DAC_OVERRIDE, 3 is CAP_FOWNER.
TEST_P(CallersOfReplica, HaveTheirCapabilities) {
  ExpectTheSame(
      "if not os.fork():\n"
      "  assert libc.prctl(8, 1, 0, 0, 0) == 0\n"  // PR_SET_KEEPCAPS
      "  become(65534, 65534, [])\n"
      "  limit_capabilities(1 << 1, 1 << 1 | 1 << 3)\n  try_all()\n"
      "  limit_capabilities(1 << 3, 1 << 1 | 1 << 3)\n  try_all()\n"
      "else:\n"
      "  assert os.wait()[1] == 0\n  show_all()\n"
      "  os.chmod('closed', 0)\n  limit_capabilities(0, 0)\n"
      "  tried(opened, 'closed/f', os.O_RDONLY)\n  create('closed/g')\n  create('g')\n");
}

TEST_P(CallersOfReplica, HaveTheirLimitForTheSizesOfFiles) {
  ExpectTheSame(
      "def sized(call, *words):\n"
      "  try: print(call.__name__, call(*words))\n"
      "  except OSError as failure: print(call.__name__, errno.errorcode[failure.errno])\n"
      "signals = []\n"
      "signal.signal(signal.SIGXFSZ, lambda *_: signals.append(1))\n"
      "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"
      "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
      "fd = os.open('f', os.O_CREAT | os.O_RDWR)\n"
      "end = os.open('f', os.O_WRONLY | os.O_APPEND)\n"
      "sized(os.write, fd, b'x' * 1500)\nsized(os.write, fd, b'x')\nsized(os.write, end, b'x')\n"
      "sized(os.pwrite, fd, b'xy', 999)\nsized(os.pwrite, fd, b'xy', 1000)\n"
      "sized(os.ftruncate, fd, 1001)\nsized(os.truncate, 'f', 1001)\n"
      "sized(os.posix_fallocate, fd, 0, 1001)\n"
      "sized(os.ftruncate, fd, 10)\nsized(os.writev, end, [b'x' * 800, b'y' * 800])\n"
      "print(len(signals), os.stat('f').st_size, open('f').read().count('y'), flush=True)\n"
      "pid = os.fork()\n"
      "if not pid:\n"
      "  signal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n"
      "  os.write(end, b'x')\n  os._exit(0)\n"
      "print(os.WTERMSIG(os.waitpid(pid, 0)[1]) == signal.SIGXFSZ)\n");
}

// Those without CAP_FSETID, and outside of the file's group or in it.
TEST_P(CallersOfReplica, TakeTheSetUserIdBitFromFilesThatTheyChange) {
  ExpectTheSame(
      "names = []\n"
      "def marked(mode):\n"
      "  names.append(f'open/{len(names)}')\n  filed(names[-1], mode)\n  return names[-1]\n"
      "def with_file(change):\n"
      "  def changed(name):\n"
      "    fd = os.open(name, os.O_WRONLY)\n    change(fd)\n    os.close(fd)\n"
      "  return changed\n"
      "changes = [with_file(lambda fd: os.write(fd, b'x')),\n"
      "           with_file(lambda fd: os.pwritev(fd, [b'x', b'y'], 2)),\n"
      "           with_file(lambda fd: os.ftruncate(fd, 3)),\n"
      "           with_file(lambda fd: os.posix_fallocate(fd, 0, 100)),\n"
      "           lambda name: os.truncate(name, 2)]\n"
      "modes = 0o4777, 0o2777, 0o2767, 0o6777\n"
      "def prepared(): return [(change, marked(mode)) for change in changes for mode in modes]\n"
      "def change_all(pairs):\n"
      "  for change, name in pairs: change(name)\n"
      "change_all(prepared())\n"
      "for group in 65534, 0:\n"
      "  pairs = prepared()\n"
      "  if not os.fork():\n"
      "    become(65534, group, [])\n    change_all(pairs)\n    os._exit(0)\n"
      "  assert os.wait()[1] == 0\n"
      "show(*names)\n");
}

INSTANTIATE_TEST_SUITE_P(Held, CallersOfReplica, kInterpositions, NameOfInterposition);

using KernelCallers = CallersOfReplica;

// Calls that the caller may make are caip's; those that it may not reach are the kernel's.
TEST_P(KernelCallers, AreWatchedWhateverTheirUser) {
  Python(watched_,
         "become(65534, 65534, [])\n"
         "create('open/mine')\ntried(os.unlink, 'open/mine')\ncreate('refused')\n"
         "create(base + '/unreachable')\nshow('open')\n");
  EXPECT_THAT(watcher_.noted, Contains("mine"));
  EXPECT_THAT(watcher_.noted, Contains("refused failed 13"));
  EXPECT_THAT(watcher_.noted, Not(Contains(::testing::StartsWith("unreachable"))));
}

TEST_P(KernelCallers, OwnWhatTheyMake) {
  EXPECT_THAT(Python(watched_,
                     "become(65534, 65533, [])\ncreate('open/f')\nos.mkdir('open/d')\n"
                     "os.symlink('f', 'open/l')\nshow('open/f', 'open/d', 'open/l')\n"),
              ElementsAre("opened open/f 193 None", "open/f 65534 65533 0o100644",
                          "open/d 65534 65533 0o40755", "open/l 65534 65533 0o120777"));
}

INSTANTIATE_TEST_SUITE_P(Held, KernelCallers, ::testing::Values(Interposition::Kind::kSeccomp),
                         NameOfInterposition);

}  // namespace
}  // namespace caip::host
