#include "host/machine/machines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <set>
#include <thread>

#include "base/clock.h"
#include "tests/host/file_replacer.h"
#include "tests/host/machine/machines_world.h"

namespace caip::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(Machines, HaveTheirHostNameAndHostsFile) {
  char name_before[256] = {};
  ::gethostname(name_before, sizeof name_before - 1);
  world_.Run(OnMachine("hostname; cat /etc/hosts; getent ahostsv4 served | head -n 1"));
  EXPECT_THAT(world_.sink.Messages(),
              ElementsAre("cmle-training-worker-replica-0", "127.0.0.1 localhost", "9.8.7.6 served",
                          HasSubstr("9.8.7.6")));
  if (::access("/etc/hostname", F_OK) == 0) {
    world_.Run(OnMachine("cat /etc/hostname", AKey(0, 2)));
    EXPECT_EQ(world_.sink.Messages().back(), "cmle-training-worker-replica-0");
  }
  char name_after[256] = {};
  ::gethostname(name_after, sizeof name_after - 1);
  EXPECT_STREQ(name_before, name_after);
  EXPECT_EQ(ReadFile("/etc/hosts")->find("9.8.7.6"), std::string::npos);
}

// Watches and shells reach a replica's files through its init.
TEST_F(Machines, ThatStartTogetherAreEachKnownByTheirOwnInit) {
  constexpr int kMachines = 24;
  for (int worker = 0; worker < kMachines; ++worker) {
    world_.Launch(OnMachine("exec sleep 1000", AKey(worker)));
  }
  world_.AwaitStarts(kMachines);
  const engine::RunKey run = AKey().run;
  std::set<pid_t> inits;
  for (const LivingReplica& living : world_.launcher->LivingOf(run.project, run.job_id)) {
    inits.insert(living.init);
    const auto name = ReadFile("/proc/" + std::to_string(living.init) + "/comm");
    EXPECT_EQ(name.ok() ? *name : "", "caip-replica\n") << living.task;
  }
  EXPECT_EQ(inits.size(), static_cast<size_t>(kMachines));
  for (int worker = 0; worker < kMachines; ++worker) world_.launcher->Kill(AKey(worker));
  world_.AwaitExits(kMachines);
}

TEST_F(Machines, HaveOtherFilesInThePlaceOfTheHosts) {
  const TemporaryDirectory directory("caip-cover-");
  const Path covered = directory.path() / "ca-certificates.crt";
  const Path bundle = directory.path() / "bundle.pem";
  ASSERT_TRUE(WriteFile(covered, "the host's\n").ok());
  ASSERT_TRUE(WriteFile(bundle, "caip's and the host's\n").ok());
  auto launch = OnMachine("cat " + covered.string());
  launch.isolation->covers = {{bundle.string(), covered.string()}};
  world_.Run(std::move(launch));
  EXPECT_THAT(world_.sink.Messages(), ElementsAre("caip's and the host's"));
  EXPECT_EQ(*ReadFile(covered), "the host's\n");
}

// All machines have the same file, which is the emulator's.
TEST_F(Machines, CannotChangeTheFilesInThePlaceOfTheHosts) {
  const TemporaryDirectory directory("caip-cover-");
  const Path covered = directory.path() / "ca-certificates.crt";
  const Path bundle = directory.path() / "bundle.pem";
  ASSERT_TRUE(WriteFile(covered, "the host's\n").ok());
  ASSERT_TRUE(WriteFile(bundle, "caip's and the host's\n").ok());
  auto launch = OnMachine("{ echo mine >> " + covered.string() + "; } 2>&1");
  launch.isolation->covers = {{bundle.string(), covered.string()}};
  world_.Run(std::move(launch));
  EXPECT_THAT(world_.sink.Messages(), ElementsAre(HasSubstr("Read-only file system")));
  EXPECT_EQ(*ReadFile(bundle), "caip's and the host's\n");
}

TEST_F(Machines, ChangeSettingsOfTheirOwnNetworkOnly) {
  world_.Run(OnMachine(kOpenSettings));
  EXPECT_EQ(world_.sink.Messages(), ResultsOfOpeningSettings());
}

// As an update of the host's certificates does it.
TEST_F(Machines, StartWhileAFileIsReplacedThatTheyCover) {
  constexpr int kStarts = 50;
  const TemporaryDirectory directory("caip-cover-");
  const Path file = directory.path() / "file";
  const Path covered = directory.path() / "covered";
  ASSERT_TRUE(WriteFile(file, "a text\n").ok());
  auto launch = OnMachine("exit 0");
  launch.isolation->covers = {{file, covered}};
  const FileReplacer replacer(covered, "covered\n");
  for (launch.key.boot = 1; launch.key.boot <= kStarts; ++launch.key.boot) {
    EXPECT_EQ(world_.Run(launch).start_error, "");
  }
}

TEST_F(Machines, StartWhileAFileIsReplacedThatTheyShow) {
  constexpr int kCovered = 32;
  constexpr int kStarts = 20;
  const TemporaryDirectory directory("caip-cover-");
  const Path file = directory.path() / "file";
  auto launch = OnMachine("cat \"$0\"");
  for (int i = 0; i < kCovered; ++i) {
    const Path covered = directory.path() / ("covered-" + std::to_string(i));
    ASSERT_TRUE(WriteFile(covered, "covered\n").ok());
    launch.isolation->covers.push_back({file, covered});
  }
  launch.arguments = {launch.isolation->covers.front().covered};
  const FileReplacer replacer(file, "a text\n");
  for (launch.key.boot = 1; launch.key.boot <= kStarts; ++launch.key.boot) {
    EXPECT_EQ(world_.Run(launch).start_error, "");
  }
  EXPECT_THAT(world_.sink.Messages(), ::testing::Each("a text"));
}

/// Fills the sockets of a process that have messages, so that a send waits. Returns their number.
int FillSocketsOf(pid_t process) {
  int filled = 0;
  const Fd owner(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  const std::string files = "/proc/" + std::to_string(process) + "/fd";
  for (const auto& entry : std::filesystem::directory_iterator(files)) {
    const int number = std::stoi(entry.path().filename());
    if (number == launcher::kSocket) continue;  // of caip
    const Fd copy(static_cast<int>(::syscall(SYS_pidfd_getfd, owner.get(), number, 0)));
    int type = 0;
    socklen_t size = sizeof type;
    ::getsockopt(copy.get(), SOL_SOCKET, SO_TYPE, &type, &size);
    if (type != SOCK_SEQPACKET) continue;
    while (::send(copy.get(), "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1) continue;
    filled += errno == EAGAIN;
  }
  return filled;
}

// The init of a machine gives the lock keeper a descriptor of itself before its command runs.
TEST_F(Machines, StartWhileTheLockKeeperTakesNothing) {
  world_.Launch(OnMachine("echo first; sleep 600", AKey(1)));
  ASSERT_TRUE(world_.sink.AwaitMessage("first"));
  pid_t keeper = 0;  // it takes its name soon after the machine has started
  const MonotonicTime deadline = MonotonicNow() + std::chrono::seconds(60);
  while ((keeper = FindHelper("caip-keeper")) == 0 && MonotonicNow() < deadline) {
    std::this_thread::yield();
  }
  ASSERT_GT(keeper, 0);
  ::kill(keeper, SIGSTOP);
  while (StateAndParent(std::to_string(keeper)).first != 'T') std::this_thread::yield();
  if (FillSocketsOf(StateAndParent(std::to_string(keeper)).second) < 2) {
    GTEST_SKIP() << "this host lets no process copy descriptors";
  }
  world_.Launch(OnMachine("echo second"));
  EXPECT_TRUE(world_.sink.AwaitMessage("second"));
  ::kill(keeper, SIGCONT);
}

TEST_F(Machines, HaveOnlyTheirOwnProcesses) {
  world_.Run(OnMachine("cat /proc/1/comm; echo $$; set -- /proc/[0-9]*; echo $#"));
  EXPECT_THAT(world_.sink.Messages(), ElementsAre("caip-replica", "2", "2"));
}

TEST_F(Machines, AreSwitchedOffWithEverythingOnThem) {
  world_.Launch(OnMachine("setsid sleep 600 & echo ready; wait"));
  ASSERT_TRUE(world_.sink.AwaitMessage("ready"));
  world_.launcher->Kill(AKey());
  EXPECT_EQ(world_.AwaitExits(1).back().signal, SIGKILL);
}

// A machine's main process ends, and a daemon of it is left.
TEST_F(Machines, EndWithTheirMainProcess) {
  const auto exit = world_.Run(OnMachine("setsid sleep 600 & exit 3"));
  EXPECT_EQ(exit.exit_code, 3);
}

TEST_F(Machines, SendSignalsToTheMainProcess) {
  world_.Launch(
      OnMachine("trap 'echo got it; exit 7' TERM; echo ready\n"
                "while :; do sleep 0.05; done"));
  ASSERT_TRUE(world_.sink.AwaitMessage("ready"));
  world_.launcher->Signal(AKey(), SIGTERM);
  EXPECT_EQ(world_.AwaitExits(1).back().exit_code, 7);
  EXPECT_EQ(world_.sink.Messages().back(), "got it");
}

// Processes of a machine cannot end it by a signal to its first process.
TEST_F(Machines, OutliveSignalsToTheirFirstProcess) {
  world_.Run(OnMachine("kill -KILL 1; kill -TERM 1; kill -34 1; echo lives"));
  EXPECT_EQ(world_.sink.Messages().back(), "lives");
}

TEST_F(Machines, AreMadeAnewWhenTheLauncherHasBeenKilled) {
  world_.Launch(OnMachine("echo ready; sleep 600"));
  ASSERT_TRUE(world_.sink.AwaitMessage("ready"));
  KillLauncher();
  EXPECT_EQ(world_.AwaitExits(2).back().signal, SIGKILL);
  world_.Run(OnMachine("hostname", AKey(0, 2)));
  EXPECT_EQ(world_.sink.Messages().back(), "cmle-training-worker-replica-0");
  EXPECT_EQ(EndpointCount(), 2u);
}

TEST(TryMachine, TellsWhyNot) {
  EXPECT_THAT(TryMachine("/nowhere/caip-launcher").value_or(""), HasSubstr("caip-launcher"));
}

}  // namespace
}  // namespace caip::host
