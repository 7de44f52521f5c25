// Replicas that wait at their file operations, on kinds of programs that trainers are.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cerrno>

#include "host/machine/machines.h"
#include "tests/host/launch_world.h"

namespace caip::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Answer = ReplicaWatcher::Answer;
using Kind = FileOperation::Kind;

/// Writes down all it hears, in words, and what of it took effect.
class TestWatcher final : public ReplicaWatcher {
 public:
  std::function<Verdict(const FileOperation&)> before = [](const FileOperation&) {
    return Verdict{};
  };
  std::function<Verdict(const FileOperation&)> after = [](const FileOperation&) {
    return Verdict{};
  };
  Path root;
  std::vector<std::string> heard;  // the replica's thread, read after its end

  Answer OutputSeen(const engine::ReplicaKey&) override { return Answer::kGoOn; }
  Verdict Before(const engine::ReplicaKey&, const FileOperation& operation) override {
    return before(operation);
  }
  Verdict After(const engine::ReplicaKey&, const FileOperation& operation, int error) override {
    heard.push_back(Words(operation) + (error ? " failed " + std::to_string(error) : ""));
    return after(operation);
  }
  void Gone(const engine::ReplicaKey&) override {}

 private:
  std::string Words(const FileOperation& operation) const {
    static constexpr const char* kNames[] = {
        "create",  "overwrite", "write", "whole", "rename", "delete", "truncate",  "link",
        "symlink", "mkdir",     "sync",  "map",   "read",   "list",   "attributes"};
    std::string words = kNames[static_cast<int>(operation.kind)];
    if (!operation.path.empty()) {
      words += " " + Path(operation.path).lexically_relative(root).string();
    }
    if (operation.kind == Kind::kSymlink) {
      words += " to " + operation.target;
    } else if (!operation.target.empty()) {
      words += " to " + Path(operation.target).lexically_relative(root).string();
    }
    if (operation.kind == Kind::kTruncate) words += " to " + std::to_string(operation.bytes);
    if (operation.kind == Kind::kWrite) words += " " + std::to_string(operation.count);
    if (operation.kind == Kind::kWhole) words += " of " + std::to_string(operation.bytes);
    return words;
  }
};

/// How the replica of a test is held at its calls, and where.
enum class Held { kBySeccomp, kByPreload, kOnMachine, kByPreloadOnMachine };

class WatchedFilesTest : public ::testing::TestWithParam<Held> {
 protected:
  WatchedFilesTest() {
    watcher.root = OnMachine() ? "/bucket" : std::filesystem::canonical(bucket.path());
    world.launcher->Watch({.roots = {watcher.root}}, watcher);
  }
  void SetUp() override {
    const auto why_not =
        OnMachine() ? TryMachine(LauncherProgram(), world.state.path()) : std::nullopt;
    if (why_not) GTEST_SKIP() << "replicas cannot have machines here: " << *why_not;
  }

  static bool OnMachine() {
    return GetParam() == Held::kOnMachine || GetParam() == Held::kByPreloadOnMachine;
  }
  static Interposition::Kind HeldBy() {
    const bool by_kernel = GetParam() == Held::kBySeccomp || GetParam() == Held::kOnMachine;
    return by_kernel ? Interposition::Kind::kSeccomp : Interposition::Kind::kPreload;
  }
  /// The file in the watched directory, as a file of this host.
  Path InBucket(const std::string& name) const {
    if (!OnMachine()) return bucket.path() / name;
    return world.launcher->OnHost(AKey(0, boot), "/bucket/" + name);
  }

  engine::ReplicaExit Run(std::vector<std::string> argv) {
    auto launch = AShell("");
    launch.key.boot = ++boot;
    launch.program = run::LocalCommand{std::move(argv)};
    launch.environment.emplace_back("B", watcher.root);
    if (OnMachine()) {
      launch.user_directories = {"bucket"};
      launch.isolation = engine::ReplicaIsolation{network, "10.128.0.2", "127.0.0.1 localhost\n"};
    }
    return world.Run(std::move(launch));
  }
  engine::ReplicaExit Python(const std::string& program) {
    return Run({"python3", "-c",
                "import os, shutil, subprocess, sys\nos.chdir(os.environ['B'])\n" + program});
  }
  engine::ReplicaExit Shell(const std::string& script) {
    return Run({"/bin/sh", "-c", "cd $B; " + script});
  }
  std::string Text(const std::string& name) const {
    const auto text = ReadFile(InBucket(name));
    return text.ok() ? *text : "(" + text.error().message + ")";
  }

  TemporaryDirectory bucket;
  TestWatcher watcher;
  std::shared_ptr<const engine::RunNetwork> network = std::make_shared<engine::RunNetwork>();
  LaunchWorld world{{}, HeldBy(), OnMachine()};
  int boot = 0;
};

TEST_P(WatchedFilesTest, TellsOfASaveByRenameStepByStep) {
  EXPECT_EQ(Python("with open('tmp', 'w') as f: f.write('abc')\n"
                   "os.replace('tmp', 'ckpt')\n"
                   "assert open('ckpt').read() == 'abc'\n"
                   "assert os.listdir('.') == ['ckpt']\n"
                   "open('ckpt', 'ab').write(b'de')\n"
                   "os.mkdir('d')\nos.rmdir('d')\nos.unlink('ckpt')")
                .exit_code,
            0);
  EXPECT_THAT(watcher.heard,
              ElementsAre("create tmp", "write tmp 3", "whole tmp of 3", "rename tmp to ckpt",
                          "read ckpt", "list .", "overwrite ckpt", "write ckpt 2",
                          "whole ckpt of 2", "mkdir d", "delete d", "delete ckpt"))
      << ::testing::PrintToString(world.sink.Messages());
}

TEST_P(WatchedFilesTest, TellsOfShellsAndTools) {
  EXPECT_EQ(
      Shell("echo one > f; (echo two; echo three) >> f; cp f g; mv g h; rm f; cat h").exit_code, 0);
  EXPECT_THAT(watcher.heard,
              ElementsAre("create f", "write f 4", "whole f of 4", "overwrite f", "write f 4",
                          "write f 6", "whole f of 10", "read f", "create g", "write g 14",
                          "whole g of 14", "rename g to h", "delete f", "read h"));
  EXPECT_THAT(world.sink.Messages(), ElementsAre("one", "two", "three"));
}

TEST_P(WatchedFilesTest, TellsOfAnOperationWhenItTookEffectAndBeforeTheReplicaKnows) {
  std::vector<std::string> seen;
  watcher.after = [&](const FileOperation& operation) {
    if (operation.kind == Kind::kRename) {
      seen.push_back(Text("to") + (std::filesystem::exists(InBucket("next")) ? "!" : ""));
    }
    return Verdict{};
  };
  Python(
      "for i in range(50):\n"
      "  open('from', 'w').write(str(i))\n  os.rename('from', 'to')\n"
      "  os.mkdir('next')\n  os.rmdir('next')");
  ASSERT_EQ(seen.size(), 50u);
  for (size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], std::to_string(i));
}

TEST_P(WatchedFilesTest, TellsOfSizesNamesAndSyncs) {
  const auto exit = Python(
      "import mmap\n"
      "f = os.open('f', os.O_CREAT | os.O_RDWR)\n"
      "os.ftruncate(f, 8192)\n"
      "m = mmap.mmap(f, 8192)\n"
      "m[0:2] = b'ab'\nm.flush()\nm.close()\n"
      "os.fsync(f)\nos.fdatasync(f)\n"
      "os.pwrite(f, b'xy', 2)\nos.pwritev(f, [b'z', b'z'], 4)\n"
      "os.posix_fallocate(f, 0, 10000)\nos.posix_fallocate(f, 0, 10)\n"
      "os.close(f)\n"
      "os.truncate('f', 6)\n"
      "assert open('f', 'rb').read() == b'abxyzz'\n"
      "os.link('f', 'g')\nos.symlink('f', 's')\nos.mkdir('d', 0o750)\n"
      "assert os.stat('f').st_nlink == 2 and os.readlink('s') == 'f'\n"
      "assert os.stat('d').st_mode & 0o7777 == 0o750\n"
      "for again in (lambda: os.link('f', 'g'), lambda: os.symlink('f', 's'),\n"
      "              lambda: os.mkdir('d')):\n"
      "  try: again()\n"
      "  except FileExistsError: pass\n"
      "  else: raise SystemExit('made twice')\n"
      "os.sync()");
  EXPECT_EQ(exit.exit_code, 0) << ::testing::PrintToString(world.sink.Messages());
  EXPECT_THAT(watcher.heard,
              ElementsAre("list .", "create f", "truncate f to 8192", "map f", "sync", "sync f",
                          "sync f", "write f 2", "write f 2", "truncate f to 10000", "whole f of 4",
                          "truncate f to 6", "read f", "link g to f", "symlink s to f", "mkdir d",
                          "link g to f failed 17", "symlink s to f failed 17", "sync"));
}

TEST_P(WatchedFilesTest, SaysWhereInTheFileAWriteEnded) {
  std::vector<int64_t> ends;
  watcher.after = [&](const FileOperation& operation) {
    if (operation.kind == Kind::kWrite) ends.push_back(operation.end);
    return Verdict{};
  };
  Python(
      "f = os.open('f', os.O_CREAT | os.O_RDWR)\n"
      "os.write(f, b'abc')\nos.pwrite(f, b'xy', 10)\nos.write(f, b'd')\nos.close(f)\n"
      "f = os.open('f', os.O_WRONLY | os.O_APPEND)\nos.write(f, b'end')");
  EXPECT_THAT(ends, ElementsAre(3, 12, 4, 15));
}

TEST_P(WatchedFilesTest, HasNoFilesWithoutNames) {
  const auto exit = Python(
      "import errno\n"
      "try: os.open('.', os.O_TMPFILE | os.O_RDWR)\n"
      "except OSError as e: print(e.errno == errno.EOPNOTSUPP)");
  EXPECT_EQ(exit.exit_code, 0);
  EXPECT_THAT(world.sink.Messages(), ElementsAre("True"));
}

// A descriptor of no file is an error of the kernel's own, except where it does not see the call.
TEST_P(WatchedFilesTest, HasNoClonesAndNoCopiesInTheKernel) {
  const auto exit = Python(
      "import errno, fcntl\n"
      "def fails(what):\n"
      "  try: what()\n"
      "  except OSError as e: print(errno.errorcode[e.errno])\n"
      "with open('f', 'w') as f, open('g', 'w') as g:\n"
      "  fails(lambda: fcntl.ioctl(f.fileno(), 0x40049409, 999))\n"  // FICLONE
      "  fails(lambda: os.copy_file_range(999, f.fileno(), 10))\n"
      "  fails(lambda: os.sendfile(f.fileno(), 999, 0, 10))\n");
  EXPECT_EQ(exit.exit_code, 0);
  EXPECT_THAT(world.sink.Messages(), ElementsAre("ENOTSUP", "EINVAL", "EINVAL"));
}

TEST_P(WatchedFilesTest, TellsOfMapsThatMayBecomeWritable) {
  Python(
      "import mmap\n"
      "f = os.open('f', os.O_CREAT | os.O_RDWR)\n"
      "os.ftruncate(f, 8192)\n"
      "mmap.mmap(f, 8192, prot=mmap.PROT_READ)\n"
      "mmap.mmap(f, 8192, flags=mmap.MAP_PRIVATE)\n");
  EXPECT_THAT(watcher.heard,
              ElementsAre("list .", "create f", "truncate f to 8192", "map f", "whole f of 0"));
}

TEST_P(WatchedFilesTest, InjectsAnErrorAtExactlyTheSeventhRename) {
  int renames = 0;
  watcher.before = [&](const FileOperation& operation) -> Verdict {
    const bool fails = operation.kind == Kind::kRename && ++renames == 7;
    return {fails ? Verdict::Kind::kFail : Verdict::Kind::kGoOn, EIO, 0};
  };
  const auto exit = Python(
      "for i in range(20):\n"
      "  open('t', 'w').close()\n"
      "  try: os.rename('t', f'f{i}')\n"
      "  except OSError as e: print(i, e.errno, os.path.exists('t'))");
  EXPECT_EQ(exit.exit_code, 0);
  EXPECT_THAT(world.sink.Messages(), ElementsAre("6 5 True"));
  EXPECT_EQ(renames, 20);
}

TEST_P(WatchedFilesTest, KillsInMidWriteAfterExactlySoManyBytes) {
  for (const int64_t cut : {1, 1000, 4096, 5'000'000}) {
    watcher.before = [&](const FileOperation& operation) -> Verdict {
      if (operation.kind != Kind::kWrite) return {};
      const int64_t left = cut - operation.bytes;
      if (left >= operation.count) return {};
      if (left > 0) return {Verdict::Kind::kPart, 0, left};
      world.launcher->Kill(AKey(0, boot));
      return {Verdict::Kind::kNever, 0, 0};
    };
    const auto exit =
        Python("f = open('f', 'wb', 0)\nf.write(b'a' * 600)\nf.write(b'b' * 9_000_000)");
    EXPECT_EQ(exit.signal, SIGKILL);
    EXPECT_EQ(std::filesystem::file_size(InBucket("f")), static_cast<uint64_t>(cut));
  }
}

/// Whether the file system of a directory has files that are open with O_DIRECT.
bool HasDirectFiles(const Path& directory) {
  return Fd(::open((directory / "direct").c_str(), O_CREAT | O_WRONLY | O_DIRECT, 0600)).valid();
}

TEST_P(WatchedFilesTest, WritesBlocksDirectly) {
  if (!HasDirectFiles(world.state.path())) GTEST_SKIP() << "no O_DIRECT here";
  const auto exit = Python(
      "import mmap\n"
      "blocks = mmap.mmap(-1, 3 << 20)\n"
      "blocks.write(b'ab' * (len(blocks) // 2))\n"
      "file = os.open('f', os.O_CREAT | os.O_WRONLY | os.O_DIRECT)\n"
      "print(os.write(file, blocks), os.pwrite(file, memoryview(blocks)[:4096], 3 << 20))");
  EXPECT_EQ(exit.exit_code, 0);
  EXPECT_THAT(world.sink.Messages(), ElementsAre("3145728 4096"));
  const std::string text = Text("f");
  ASSERT_EQ(text.size(), 3145728u + 4096u);
  for (size_t at = 0; at < text.size(); ++at) ASSERT_EQ(text[at], at % 2 == 0 ? 'a' : 'b') << at;
}

TEST_P(WatchedFilesTest, CutsADirectWriteWithinABlock) {
  if (!HasDirectFiles(world.state.path())) GTEST_SKIP() << "no O_DIRECT here";
  watcher.before = [](const FileOperation& operation) -> Verdict {
    if (operation.kind != Kind::kWrite || operation.bytes >= 100) return {};
    return {Verdict::Kind::kPart, 0, 100 - operation.bytes};
  };
  const auto exit = Python(
      "import fcntl, mmap\n"
      "blocks = mmap.mmap(-1, 8192)\n"
      "blocks.write(b'x' * 100 + b'y' * 8092)\n"
      "file = os.open('f', os.O_CREAT | os.O_WRONLY | os.O_DIRECT)\n"
      "print(os.write(file, blocks), fcntl.fcntl(file, fcntl.F_GETFL) & os.O_DIRECT != 0)");
  EXPECT_EQ(exit.exit_code, 0);
  EXPECT_THAT(world.sink.Messages(), ElementsAre("8192 True"));
  EXPECT_EQ(Text("f"), std::string(100, 'x') + std::string(8092, 'y'));
}

TEST_P(WatchedFilesTest, LosesTheAnswersOfWhatTookEffect) {
  watcher.after = [](const FileOperation& operation) -> Verdict {
    const bool fails = operation.kind != Kind::kCreate && operation.kind != Kind::kOverwrite;
    return {fails ? Verdict::Kind::kFail : Verdict::Kind::kGoOn, EIO, 0};
  };
  const auto exit = Python(
      "def tried(act, *args):\n"
      "  try: return act(*args)\n"
      "  except OSError as e: return e.errno\n"
      "f = os.open('f', os.O_CREAT | os.O_WRONLY)\n"
      "print(tried(os.write, f, b'abc'), os.path.getsize('f'), tried(os.close, f))\n"
      "print(tried(os.rename, 'f', 'g'), tried(open, 'g'), tried(os.listdir, '.'))\n"
      "print(tried(os.unlink, 'g'), os.path.exists('g'))");
  EXPECT_EQ(exit.exit_code, 0);
  EXPECT_THAT(world.sink.Messages(), ElementsAre("3 3 5", "5 5 5", "5 False"));
}

TEST_P(WatchedFilesTest, ClosesAFileWhoseCloseFails) {
  int whole = 0;
  watcher.after = [&](const FileOperation& operation) -> Verdict {
    const bool fails = operation.kind == Kind::kWhole && ++whole == 1;
    return {fails ? Verdict::Kind::kFail : Verdict::Kind::kGoOn, EIO, 0};
  };
  Python(
      "def held():\n"
      "  links = [f'/proc/self/fd/{n}' for n in os.listdir('/proc/self/fd')]\n"
      "  return sum(os.path.realpath(link).endswith('/f') for link in links)\n"
      "f = open('f', 'w')\nf.write('abc')\n"
      "try: f.close()\n"
      "except OSError as e: print(e.errno, held())\n"
      "with open('f', 'a') as f: f.write('de')\n"
      "print(held())");
  EXPECT_THAT(world.sink.Messages(), ElementsAre("5 0", "0"));
  EXPECT_THAT(watcher.heard, ElementsAre("create f", "write f 3", "whole f of 3", "overwrite f",
                                         "write f 2", "whole f of 2"));
}

TEST_P(WatchedFilesTest, FailsAWriteBehindACut) {
  int failed = 0;
  watcher.before = [&](const FileOperation& operation) -> Verdict {
    if (operation.kind != Kind::kWrite || operation.bytes > 100) return {};
    if (operation.bytes < 100) return {Verdict::Kind::kPart, 0, 100 - operation.bytes};
    if (++failed > 1) return {};
    return {Verdict::Kind::kFail, ENOENT, 0};
  };
  Python(
      "f = open('f', 'wb', 0)\n"
      "print(f.write(b'x' * 300))\n"
      "try: f.write(b'y' * 200)\n"
      "except OSError as e: print(e.errno)\n"
      "print(f.write(b'z'))");
  EXPECT_THAT(world.sink.Messages(), ElementsAre("100", "2", "1"));
  EXPECT_EQ(Text("f"), std::string(100, 'x') + "z");
}

TEST_P(WatchedFilesTest, TellsAtItsCloseThatAFilesLastWriteFailed) {
  watcher.before = [](const FileOperation& operation) -> Verdict {
    if (operation.kind != Kind::kWrite) return {};
    if (operation.bytes < 100) return {Verdict::Kind::kPart, 0, 100 - operation.bytes};
    return {Verdict::Kind::kFail, EIO, 0};
  };
  Python(
      "f = open('f', 'wb', 0)\n"
      "f.write(b'x' * 300)\n"
      "try: f.close()\n"
      "except OSError as e: print(e.errno)");
  EXPECT_THAT(world.sink.Messages(), ElementsAre("5"));
}

TEST_P(WatchedFilesTest, SaysWhereNobodyHearsOfAFailure) {
  std::vector<bool> told;
  watcher.after = [&](const FileOperation& operation) {
    if (operation.kind == Kind::kWhole) told.push_back(operation.is_answered);
    return Verdict{};
  };
  Python("open('f', 'w').close()\ng = open('g', 'w')\nsys.stdout.flush()\nos._exit(0)");
  EXPECT_THAT(told, ElementsAre(true, false));
}

TEST_P(WatchedFilesTest, KeepsPositionsModesAndErrorsAsTheKernelHasThem) {
  const auto exit = Python(
      "import errno, fcntl, stat\n"
      "os.umask(0o027)\n"
      "fd = os.open('m', os.O_CREAT | os.O_RDWR, 0o777)\n"
      "assert stat.S_IMODE(os.stat('m').st_mode) == 0o750, oct(os.stat('m').st_mode)\n"
      "assert fcntl.fcntl(fd, fcntl.F_GETFD) == fcntl.FD_CLOEXEC\n"
      "assert os.write(fd, b'abc') == 3 and os.pwrite(fd, b'X', 1) == 1\n"
      "assert os.writev(fd, [b'd', b'', b'ef']) == 3 and os.lseek(fd, 0, 1) == 6\n"
      "assert os.pread(fd, 9, 0) == b'aXcdef'\n"
      "def fails(number, act, *args):\n"
      "  try: act(*args)\n"
      "  except OSError as e: assert e.errno == number, e\n"
      "  else: raise AssertionError(act)\n"
      "fails(errno.EEXIST, os.open, 'm', os.O_CREAT | os.O_EXCL | os.O_WRONLY)\n"
      "fails(errno.ENOENT, open, 'none')\n"
      "fails(errno.ENOENT, os.rename, 'none', 'x')\n"
      "fails(errno.EISDIR, open, '.', 'w')\n"
      "fails(errno.EISDIR if sys.platform == 'linux' else 1, os.unlink, os.getcwd())\n"
      "d = os.open('.', os.O_RDONLY)\nos.fsync(d)\n"
      "os.rename('m', 'n', src_dir_fd=d, dst_dir_fd=d)\nos.symlink('n', 'link')\n"
      "assert open('link').read() == 'aXcdef'\nos.unlink('link')\n"
      "os.mkdir('many')\n"
      "for i in range(1500): os.close(os.open(f'many/{i}', os.O_CREAT))\n"
      "assert len(os.listdir('many')) == 1500\nshutil.rmtree('many')");
  EXPECT_EQ(exit.exit_code, 0) << ::testing::PrintToString(world.sink.Messages());
  EXPECT_EQ(std::count(watcher.heard.begin(), watcher.heard.end(), "list many"), 2);
  EXPECT_EQ(std::count(watcher.heard.begin(), watcher.heard.end(), "read n"), 1);
}

TEST_P(WatchedFilesTest, TellsThatAFileIsWholeOnceWhenItsLastWriterCloses) {
  Python(
      "f = open('f', 'wb', 0)\n"
      "g = os.dup(f.fileno())\n"
      "subprocess.run(['sh', '-c', 'echo x'], stdout=f)\n"
      "os.close(g)\n"
      "f.write(b'y')\n"
      "sys.stdout.flush()\nos._exit(0)");
  EXPECT_THAT(watcher.heard, ElementsAre("create f", "write f 2", "write f 1", "whole f of 3"));
}

TEST_P(WatchedFilesTest, LeavesOtherDirectoriesAlone) {
  TemporaryDirectory other;
  Python("open('" + (other.path() / "f").string() + "', 'w').write('x')\nos.listdir('/')");
  EXPECT_THAT(watcher.heard, ElementsAre());
}

// Of a machine, all its disk is watched.
TEST_P(WatchedFilesTest, TellsOfChangesOnlyWhereThatIsAsked) {
  const std::string watched = OnMachine() ? "/" : watcher.root.string();
  world.launcher->Watch({.changed_roots = {watched}}, watcher);
  Python(
      "with open('f', 'w') as f: f.write('abc')\n"
      "assert open('f').read() == 'abc' and os.listdir('.') == ['f']\n"
      "open('/dev/null', 'w').write('x')\n"
      "open('/proc/self/comm', 'w').write('x')\n"
      "os.rename('f', 'g')\nos.unlink('g')");
  EXPECT_THAT(watcher.heard,
              ElementsAre("create f", "write f 3", "whole f of 3", "rename f to g", "delete g"));
}

class WatchedMachineFilesTest : public WatchedFilesTest {};

TEST_P(WatchedMachineFilesTest, FollowsLinksInTheFilesOfTheMachine) {
  const Path of_host = "/tmp/caip-watched-file";
  world.launcher->Watch({.changed_roots = {"/"}}, watcher);
  EXPECT_EQ(Python("open('" + of_host.string() + "', 'w').close()\nos.symlink('" +
                   of_host.string() + "', 'link')\nopen('link', 'a').write('x')\n")
                .exit_code,
            0);
  EXPECT_THAT(
      watcher.heard,
      ElementsAre("create ../tmp/caip-watched-file", "whole ../tmp/caip-watched-file of 0",
                  "symlink link to /tmp/caip-watched-file", "overwrite ../tmp/caip-watched-file",
                  "write ../tmp/caip-watched-file 1", "whole ../tmp/caip-watched-file of 1"));
  EXPECT_FALSE(std::filesystem::exists(of_host));
}

std::string NameOfHeld(const ::testing::TestParamInfo<Held>& tested) {
  static constexpr const char* kNames[] = {"BySeccomp", "ByPreload", "OnMachine",
                                           "ByPreloadOnMachine"};
  return kNames[static_cast<int>(tested.param)];
}

INSTANTIATE_TEST_SUITE_P(Held, WatchedFilesTest,
                         ::testing::Values(Held::kBySeccomp, Held::kByPreload, Held::kOnMachine,
                                           Held::kByPreloadOnMachine),
                         NameOfHeld);
INSTANTIATE_TEST_SUITE_P(Held, WatchedMachineFilesTest,
                         ::testing::Values(Held::kOnMachine, Held::kByPreloadOnMachine),
                         NameOfHeld);

}  // namespace
}  // namespace caip::host
