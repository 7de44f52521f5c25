#include "host/process/orphans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <future>

#include "host/machine/machines.h"
#include "host/process/launcher_link.h"
#include "host/process/launcher_lock.h"
#include "tests/host/launch_world.h"

namespace caip::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

bool AwaitEnd(pid_t pid) {
  const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd.valid()) return true;
  pollfd waited{pidfd.get(), POLLIN, 0};
  return ::poll(&waited, 1, 30'000) == 1;
}

pid_t SpawnSleep(const std::string& variable) {
  std::string marked = variable;
  char* const argv[] = {const_cast<char*>("/bin/sleep"), const_cast<char*>("1000"), nullptr};
  char* const environment[] = {const_cast<char*>("A=1"), marked.data(), nullptr};
  pid_t pid = -1;
  EXPECT_EQ(::posix_spawn(&pid, "/bin/sleep", nullptr, nullptr, argv, environment), 0);
  return pid;
}

TEST(StateId, IsTheSameForEverySpellingOfADirectory) {
  TemporaryDirectory directory;
  const Path path = directory.path();
  EXPECT_EQ(StateId(path).size(), 16u);
  EXPECT_EQ(StateId(path), StateId(path / "."));
  EXPECT_EQ(StateId(path), StateId(path / "x" / ".."));
  EXPECT_NE(StateId(path), StateId(path / "x"));
}

TEST(ReplicaMarker, NamesTheBoot) {
  engine::ReplicaKey key = AKey(2, 3);
  EXPECT_EQ(ReplicaMarker("id", key), "id/my-project/census_20260101/worker-replica-2/3");
  key.run.trial = "4";
  EXPECT_EQ(ReplicaMarker("id", key), "id/my-project/census_20260101/trial-4/worker-replica-2/3");
}

TEST(KillReplicas, KillsThoseOfTheStateDirectoryAndNoOthers) {
  TemporaryDirectory state;
  const std::string id = StateId(state.path());
  const pid_t marked = SpawnSleep("CAIP_REPLICA=" + id + "/p/j/master-replica-0/1");
  const pid_t others = SpawnSleep("CAIP_REPLICA=0123456789abcdef/p/j/master-replica-0/1");
  const pid_t looks_so = SpawnSleep("XCAIP_REPLICA=" + id + "/p/j/master-replica-0/1");
  EXPECT_THAT(FindReplicas(id), ElementsAre(marked));
  const auto killed = KillReplicas(id);
  ASSERT_TRUE(killed.ok());
  EXPECT_EQ(*killed, 1);
  int status = 0;
  EXPECT_EQ(::waitpid(marked, &status, WNOHANG), marked);
  EXPECT_TRUE(WIFSIGNALED(status));
  for (const pid_t pid : {others, looks_so}) {
    EXPECT_EQ(::waitpid(pid, nullptr, WNOHANG), 0) << "should live";
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
}

TEST(FindReplicas, FindsAProcessThatReplacesItsProgram) {
  TemporaryDirectory state;
  const std::string id = StateId(state.path());
  std::string marker = "CAIP_REPLICA=" + id + "/p/j/master-replica-0/1";
  // It replaces its program again and again, until it is killed.
  std::string script = "exec /bin/sh -c \"$0\" \"$0\"";
  char* const arguments[] = {const_cast<char*>("/bin/sh"), const_cast<char*>("-c"), script.data(),
                             script.data(), nullptr};
  char* const environment[] = {marker.data(), nullptr};
  pid_t pid = -1;
  ASSERT_EQ(::posix_spawn(&pid, "/bin/sh", nullptr, nullptr, arguments, environment), 0);
  for (int look = 0; look < 100; ++look) EXPECT_THAT(FindReplicas(id), ElementsAre(pid)) << look;
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

/// A process that is an emulator: it launches `script` and lives until it is killed. Returns when
/// the script has made the file `ready` in the state directory.
class Emulator {
 public:
  Emulator(const Path& state, const std::string& script) : Emulator(state, AShell(script)) {}
  Emulator(const Path& state, engine::ReplicaLaunch launch) {
    pid_ = ::fork();
    if (pid_ == 0) {
      SystemClock clock;
      RecordingSink sink;
      auto launcher = ProcessLauncher::Start({state, LauncherProgram(), {}}, clock, sink);
      if (!launcher.ok()) ::_exit(1);
      (*launcher)->Launch(std::move(launch), {});
      for (;;) ::pause();
    }
  }
  ~Emulator() { Kill(); }
  void Kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_;
};

/// A FIFO that the replica writes to when it is ready: reading waits for it.
class Ready {
 public:
  explicit Ready(const Path& path) : path_(path) { EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0); }
  void Await() { EXPECT_EQ(*ReadFile(path_), "ready\n"); }

 private:
  Path path_;
};

TEST(Orphans, NoneAreLeftWhenTheEmulatorIsKilled) {
  TemporaryDirectory state;
  const Path fifo = state.path() / "ready";
  Ready ready(fifo);
  Emulator emulator(state.path(),
                    "trap '' TERM HUP INT; (setsid sh -c 'sleep 1000; :' &); "
                    "sleep 1000 & echo ready > " +
                        fifo.string() + "; wait");
  ready.Await();
  const std::string id = StateId(state.path());
  ASSERT_GE(FindReplicas(id).size(), 3u);
  emulator.Kill();
  // Nobody but caip-launcher ends them now; in this moment some may be on their way still.
  for (auto left = FindReplicas(id); !left.empty(); left = FindReplicas(id)) {
    for (const pid_t pid : left) ASSERT_TRUE(AwaitEnd(pid)) << "a process of the replica lives";
  }
}

TEST(Orphans, AreKilledByTheNextEmulatorWhenTheLauncherWasKilledToo) {
  TemporaryDirectory state;
  const Path fifo = state.path() / "ready";
  Ready ready(fifo);
  Emulator emulator(state.path(), "setsid sh -c 'echo $PPID; echo ready > " + fifo.string() +
                                      "; sleep 1000; :' & sleep 1000");
  ready.Await();
  const std::string id = StateId(state.path());
  // All at once, so that nobody can tidy up: emulator, launcher and init are stopped first.
  std::vector<pid_t> family;
  for (const pid_t pid : FindReplicas(id)) {
    const auto stat = ReadFile("/proc/" + std::to_string(pid) + "/stat");
    const pid_t parent = std::atoi(stat->c_str() + stat->rfind(')') + 4);
    const auto name = ReadFile("/proc/" + std::to_string(parent) + "/comm");
    if (*name != "caip-replica\n") continue;
    const auto init = ReadFile("/proc/" + std::to_string(parent) + "/stat");
    family = {std::atoi(init->c_str() + init->rfind(')') + 4), parent};
  }
  ASSERT_EQ(family.size(), 2u);
  for (const pid_t pid : family) ::kill(pid, SIGSTOP);
  emulator.Kill();
  for (const pid_t pid : family) ::kill(pid, SIGKILL);
  ASSERT_FALSE(FindReplicas(id).empty()) << "the test means to leave an orphan";
  SystemClock clock;
  RecordingSink sink;
  const auto next = ProcessLauncher::Start({state.path(), LauncherProgram()}, clock, sink);
  ASSERT_TRUE(next.ok());
  EXPECT_THAT(FindReplicas(id), IsEmpty());
}

// A machine ends with its init, and its many processes take a while.
TEST(Orphans, OfAMachineKeepTheNextEmulatorWaitingWhenTheLauncherWasKilledToo) {
  if (const auto why_not = TryMachine(LauncherProgram())) {
    GTEST_SKIP() << "replicas cannot have machines here: " << *why_not;
  }
  TemporaryDirectory state;
  const Path fifo = state.path() / "ready";
  Ready ready(fifo);
  auto launch =
      AShell("i=0; while [ $i -lt 200 ]; do sleep 1000 & i=$((i + 1)); done; echo ready > " +
             fifo.string() + "; wait");
  launch.isolation = engine::ReplicaIsolation{std::make_shared<engine::RunNetwork>(), "10.128.0.2",
                                              "127.0.0.1 localhost\n"};
  Emulator emulator(state.path(), std::move(launch));
  ready.Await();
  const std::string id = StateId(state.path());
  pid_t launcher = 0;
  for (const pid_t pid : FindReplicas(id)) {
    const pid_t parent = StateAndParent(std::to_string(pid)).second;
    const auto name = ReadFile("/proc/" + std::to_string(parent) + "/comm");
    if (*name == "caip-replica\n") launcher = StateAndParent(std::to_string(parent)).second;
  }
  ASSERT_GT(launcher, 0);
  ::kill(launcher, SIGSTOP);  // it must not end its replicas
  emulator.Kill();
  ASSERT_FALSE(LockForLaunchers(state.path(), std::chrono::milliseconds(0)).ok());
  ::kill(launcher, SIGKILL);
  const auto lock = LockForLaunchers(state.path());
  ASSERT_TRUE(lock.ok()) << lock.error().message;
  EXPECT_THAT(FindReplicas(id), IsEmpty());
}

/// The child of this process; 0 or -1: there is none, or the kernel does not show it.
pid_t OwnChild() {
  const auto text = ReadFile("/proc/self/task/" + std::to_string(::getpid()) + "/children");
  return text.ok() ? std::atoi(text->c_str()) : -1;
}

/// Returns when the process is stopped. False: it has ended.
bool AwaitStop(pid_t pid) {
  for (;;) {
    const char state = StateAndParent(std::to_string(pid)).first;
    if (state == 'T') return true;
    if (state == '\0' || state == 'Z') return false;
    ::sched_yield();
  }
}

/// A process that is an emulator: it orders the launch of `script` from a launcher that is stopped,
/// and is killed. Returns the process ID of the launcher; 0: the launcher could not be stopped.
pid_t OrderAndDie(const Path& state, std::string script) {
  const Path note = state / "launcher.pid";
  const pid_t emulator = ::fork();
  if (emulator == 0) {
    const auto lock = LockForLaunchers(state);
    if (!lock.ok()) ::_exit(1);
    LauncherLink::Listener listener;
    listener.report = [](const launcher::Report&) {};
    listener.gone = [] {};
    const auto link = LauncherLink::Start(LauncherProgram(), std::move(listener), lock->get());
    const pid_t launcher = OwnChild();
    if (!link.ok() || launcher <= 0) ::_exit(1);  // kill(-1) is for every process of the host
    if (::kill(launcher, SIGSTOP) != 0 || !AwaitStop(launcher)) ::_exit(1);
    LauncherLink::Replica replica;
    replica.number = 1;
    replica.directory = "/";
    replica.argv = {"/bin/sh", "-c", std::move(script)};
    replica.out = replica.err = STDERR_FILENO;
    (void)(*link)->Launch(replica);
    (void)WriteFile(note, std::to_string(launcher));
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(emulator, nullptr, 0);
  const auto noted = ReadFile(note);
  EXPECT_TRUE(noted.ok()) << "no launcher was started and stopped: " << noted.error().message;
  return noted.ok() ? std::atoi(noted->c_str()) : 0;
}

TEST(Orphans, AreNotStartedForAnEmulatorThatWasKilled) {
  TemporaryDirectory state;
  const Path mark = state.path() / "started";
  const pid_t launcher = OrderAndDie(state.path(), "touch " + mark.string());
  ASSERT_GT(launcher, 0);
  const auto early = LockForLaunchers(state.path(), std::chrono::milliseconds(0));
  ::kill(launcher, SIGCONT);
  ASSERT_FALSE(early.ok()) << "the next emulator would start beside the launcher";
  EXPECT_EQ(early.error().code, Code::kDeadlineExceeded);
  ASSERT_TRUE(LockForLaunchers(state.path()).ok());
  EXPECT_FALSE(std::filesystem::exists(mark)) << "two machines would have one boot disk";
}

/// A process that is an emulator: it has a network with a fault, launches a replica whose removal
/// is `removal`, and is killed when the replica runs. Returns the process ID of the launcher.
pid_t LaunchAndDie(const Path& state, std::string removal) {
  const Path note = state / "launcher.pid";
  const pid_t emulator = ::fork();
  if (emulator == 0) {
    const auto lock = LockForLaunchers(state);
    std::promise<void> started;
    std::promise<void> faulty;
    LauncherLink::Listener listener;
    listener.report = [&](const launcher::Report&) { started.set_value(); };
    listener.gone = [] {};
    listener.faults = [&](const launcher::Report&) { faulty.set_value(); };
    const auto link = LauncherLink::Start(LauncherProgram(), std::move(listener), lock->get());
    (void)(*link)->OpenNetwork(1, {});
    (void)(*link)->SetFaults(1, 1, {PacketFault{}});  // starts a packet relay
    faulty.get_future().wait();
    LauncherLink::Replica replica;
    replica.number = 1;
    replica.directory = "/";
    replica.argv = {"/bin/sleep", "1000"};
    replica.environment = {"PATH=/usr/bin:/bin",
                           "CAIP_REPLICA=" + ReplicaMarker(StateId(state), AKey())};
    replica.out = replica.err = STDERR_FILENO;
    replica.removal = {{"sh", "-c", std::move(removal)}, 600'000, 600'000};
    (void)(*link)->Launch(replica);
    started.get_future().wait();
    (void)WriteFile(note, std::to_string(OwnChild()));
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(emulator, nullptr, 0);
  return std::atoi(ReadFile(note)->c_str());
}

TEST(Orphans, MayBeRemovedWhileTheNextEmulatorStarts) {
  TemporaryDirectory state;
  const Path fifo = state.path() / "removing";
  Ready removing(fifo);
  const pid_t launcher =
      LaunchAndDie(state.path(), "echo ready > " + fifo.string() + "; exec sleep 1000");
  ASSERT_GT(launcher, 0);
  removing.Await();
  const auto lock = LockForLaunchers(state.path());
  EXPECT_TRUE(lock.ok()) << "it waits for the removal: " << lock.error().message;
  EXPECT_EQ(StateAndParent(std::to_string(launcher)).first, 'S') << "the removal should still run";
  ASSERT_TRUE(KillReplicas(StateId(state.path())).ok());
  EXPECT_TRUE(AwaitEnd(launcher));
}

}  // namespace
}  // namespace caip::host
