// Watched calls whose paths end with a slash or a dot: the answers are those of the kernel.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/host/launch_world.h"

namespace caip::host {
namespace {

using ::testing::ElementsAre;
using ::testing::Not;

/// Lets everything go on, and notes the calls that caip carries out: "d" or "d to e".
class NotingWatcher final : public ReplicaWatcher {
 public:
  std::vector<std::string> noted;  // the replica's thread, read after its end

  Answer OutputSeen(const engine::ReplicaKey&) override { return Answer::kGoOn; }
  Verdict Before(const engine::ReplicaKey&, const FileOperation&) override { return {}; }
  Verdict After(const engine::ReplicaKey&, const FileOperation& operation, int) override {
    const std::string to = Path(operation.target).filename();
    noted.push_back(Path(operation.path).filename().string() + (to.empty() ? "" : " to " + to));
    return {};
  }
  void Gone(const engine::ReplicaKey&) override {}
};

class DirectoryPaths : public ::testing::TestWithParam<Interposition::Kind> {
 protected:
  DirectoryPaths() {
    const std::string root = std::filesystem::canonical(watched_.path());
    world_.launcher->Watch({.roots = {root}}, watcher_);
  }

  /// What the program prints that runs in the directory.
  std::vector<std::string> Python(const TemporaryDirectory& directory, const std::string& program) {
    const size_t before = world_.sink.Messages().size();
    auto launch = AShell("", AKey(0, ++boot_));
    launch.program = run::LocalCommand{{"python3", "-c", program}};
    launch.environment.emplace_back("B", std::filesystem::canonical(directory.path()));
    EXPECT_EQ(world_.Run(std::move(launch)).exit_code, 0);
    auto messages = world_.sink.Messages();
    return {messages.begin() + static_cast<std::ptrdiff_t>(before), messages.end()};
  }
  /// The program prints the same in a watched directory as in another one.
  void ExpectTheSame(const std::string& program) {
    const auto of_kernel = Python(other_, program);
    EXPECT_THAT(of_kernel, Not(::testing::IsEmpty()));
    EXPECT_EQ(Python(watched_, program), of_kernel);
  }

  TemporaryDirectory watched_;
  TemporaryDirectory other_;
  NotingWatcher watcher_;
  LaunchWorld world_{{}, GetParam()};
  int boot_ = 0;
};

// `tried` makes a directory with a file, a directory and links to these and to nothing. It prints
// the answer of a call in there, and what is there then.
constexpr char kTried[] = R"(
import ctypes, errno, os, stat
top, count = os.environ['B'], 0
def tried(call, *words):
  global count
  count += 1
  os.mkdir(f'{top}/{count}')
  os.chdir(f'{top}/{count}')
  open('f', 'w').close()
  os.mkdir('d')
  for target in 'f', 'd', 'none': os.symlink(target, 'l' + target)
  try:
    call(*words)
    answer = 'done'
  except OSError as failure:
    answer = errno.errorcode[failure.errno]
  left = [f'{stat.S_IFMT(os.lstat(name).st_mode):o} {name}' for name in sorted(os.listdir('.'))]
  print(call.__name__, *words, answer, *left)
paths = [name + end for name in ('f', 'd', 'lf', 'ld', 'lnone', 'none')
         for end in ('/', '//', '/.')]
)";

TEST_P(DirectoryPaths, AreDeletedAndMadeAsByTheKernel) {
  ExpectTheSame(std::string(kTried) +
                "for path in paths + ['.', 'd/..']:\n"
                "  for call in os.unlink, os.rmdir, os.mkdir: tried(call, path)\n"
                "  tried(os.symlink, 'f', path)\n"
                "  tried(os.link, 'f', path)\n"
                "  tried(os.link, path, 'new')\n"
                "  tried(os.truncate, path, 0)\n");
}

TEST_P(DirectoryPaths, AreOpenedAsByTheKernel) {
  ExpectTheSame(std::string(kTried) +
                "def opened(path, flags): os.close(os.open(path, flags))\n"
                "for path in paths:\n"
                "  for flags in (os.O_RDONLY, os.O_RDWR | os.O_TRUNC, os.O_WRONLY | os.O_CREAT,\n"
                "                os.O_WRONLY | os.O_CREAT | os.O_EXCL,\n"
                "                os.O_RDONLY | os.O_NOFOLLOW, os.O_RDONLY | os.O_DIRECTORY):\n"
                "    tried(opened, path, flags)\n");
}

TEST_P(DirectoryPaths, AreRenamedAsByTheKernel) {
  ExpectTheSame(std::string(kTried) +
                "names = ['f', 'd', 'lf', 'ld', 'none']\n"
                "both = names + [name + '/' for name in names] + ['d/.']\n"
                "for path in both:\n"
                "  for to in both: tried(os.rename, path, to)\n");
}

TEST_P(DirectoryPaths, AreExchangedAsByTheKernel) {
  ExpectTheSame(std::string(kTried) +
                "c = ctypes.CDLL(None, use_errno=True)\n"
                "def exchange(path, to):\n"
                "  if c.renameat2(-100, path.encode(), -100, to.encode(), 2):\n"
                "    raise OSError(ctypes.get_errno(), '')\n"
                "for path in 'f', 'f/', 'd', 'd/', 'ld/':\n"
                "  for to in 'f/', 'd/', 'lf/', 'ld/', 'none/': tried(exchange, path, to)\n");
}

TEST_P(DirectoryPaths, AreWatchedWhereTheyAreThoseOfDirectories) {
  Python(watched_,
         "import os\nos.chdir(os.environ['B'])\n"
         "os.mkdir('d/')\nos.rename('d/', 'e/')\nos.rmdir('e//')\n");
  EXPECT_THAT(watcher_.noted, ElementsAre("d", "d to e", "e"));
}

// Programs then make a file with a name.
TEST_P(DirectoryPaths, HaveNoFilesWithoutNames) {
  EXPECT_THAT(Python(watched_,
                     "import errno, os\nos.chdir(os.environ['B'])\nos.mkdir('d')\n"
                     "for path in 'd/', 'd':\n"
                     "  try: os.open(path, os.O_TMPFILE | os.O_RDWR | os.O_EXCL)\n"
                     "  except OSError as e: print(e.errno == errno.EOPNOTSUPP)"),
              ElementsAre("True", "True"));
}

INSTANTIATE_TEST_SUITE_P(Held, DirectoryPaths, kInterpositions, NameOfInterposition);

}  // namespace
}  // namespace caip::host
