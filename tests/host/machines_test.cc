#include "host/machine/machines.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstring>
#include <filesystem>
#include <future>
#include <thread>

#include "base/clock.h"
#include "base/encoding.h"
#include "host/machine/run_networks.h"
#include "host/process/launcher_link.h"
#include "tests/host/file_replacer.h"
#include "tests/host/launch_world.h"

namespace caip::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A world whose replicas have machines in a network with an endpoint at 169.254.169.254:80.
class Machines : public ::testing::Test {
 protected:
  Machines() {
    world_.launcher->SetEndpointHandler([this](const std::string& tag, Fd listening) {
      const std::lock_guard lock(mutex_);
      endpoints_.emplace_back(tag, std::move(listening));
      changed_.notify_all();
    });
  }

  void SetUp() override {
    if (const auto why_not = TryMachine(LauncherProgram())) {
      GTEST_SKIP() << "replicas cannot have machines here: " << *why_not;
    }
  }

  engine::ReplicaLaunch OnMachine(const std::string& script, engine::ReplicaKey key = AKey()) {
    auto launch = AShell(script, std::move(key));
    launch.machine.host_name = "cmle-training-" + run::Name(launch.key.replica);
    const std::string address = "10.128.0." + std::to_string(2 + launch.key.replica.index);
    launch.isolation =
        engine::ReplicaIsolation{network_, address, "127.0.0.1 localhost\n9.8.7.6 served\n"};
    return launch;
  }
  engine::ReplicaLaunch APython(const std::string& source, engine::ReplicaKey key = AKey()) {
    auto launch = OnMachine("", std::move(key));
    launch.program = run::LocalCommand{{"python3", "-c", source}};
    return launch;
  }

  /// Accepts at the first endpoint; answers the connection and the client's address.
  std::pair<Fd, std::string> Accept() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(30), [&] {
      return !endpoints_.empty();
    })) << "awaited an endpoint";
    if (endpoints_.empty()) return {};
    sockaddr_in from{};
    socklen_t size = sizeof from;
    Fd fd(::accept4(endpoints_.front().second.get(), reinterpret_cast<sockaddr*>(&from), &size,
                    SOCK_CLOEXEC));
    char address[INET_ADDRSTRLEN] = {};
    ::inet_ntop(AF_INET, &from.sin_addr, address, sizeof address);
    return {std::move(fd), std::string(address) + ":" + std::to_string(ntohs(from.sin_port))};
  }
  /// A replica that is a process of the host finds caip-launcher above its init.
  void KillLauncher() {
    world_.Run(AShell("awk '{print $4}' /proc/$PPID/stat", AKey(9)));
    ::kill(std::stoi(world_.sink.Messages().back()), SIGKILL);
  }
  /// A socket that listens at 127.0.0.1, and its port.
  static std::pair<Fd, int> ListenOnHost() {
    Fd listening(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof place;
    EXPECT_EQ(::bind(listening.get(), reinterpret_cast<sockaddr*>(&place), size), 0);
    EXPECT_EQ(::listen(listening.get(), 8), 0);
    ::getsockname(listening.get(), reinterpret_cast<sockaddr*>(&place), &size);
    return {std::move(listening), ntohs(place.sin_port)};
  }
  static pid_t FindNat() { return FindHelper("caip-nat"); }
  /// The child of this test's launcher that has this name; 0: there is none.
  static pid_t FindHelper(const std::string& wanted) {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const auto name = ReadFile(entry.path() / "comm");
      if (!name.ok() || *name != wanted + "\n") continue;
      const auto [state, launcher] = StateAndParent(entry.path().filename());
      if (state == 'Z' || StateAndParent(std::to_string(launcher)).second != ::getpid()) continue;
      return std::stoi(entry.path().filename());
    }
    return 0;
  }
  size_t EndpointCount() {
    const std::lock_guard lock(mutex_);
    return endpoints_.size();
  }

  std::shared_ptr<const engine::RunNetwork> network_ = std::make_shared<engine::RunNetwork>(
      engine::RunNetwork{{{"169.254.169.254", 80, "metadata"}}});
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::pair<std::string, Fd>> endpoints_;
  LaunchWorld world_;  // last: it calls us until it is gone
};

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

// Docker's default capabilities without CAP_MKNOD, and CAP_SYS_PTRACE.
TEST_F(Machines, RunTheReplicaAsRootWithTheRightsOfAContainer) {
  world_.Run(OnMachine("echo $(id -u) $(id -g); grep CapEff /proc/self/status"));
  EXPECT_THAT(world_.sink.Messages(), ElementsAre("0 0", "CapEff:\t00000000a00c25fb"));
}

// CAP_SYS_PTRACE lets root of the machine write into the memory of the init.
TEST_F(Machines, HaveAnInitThatHasNoMoreRightsThanTheReplica) {
  world_.Run(OnMachine("grep -E 'Cap(Inh|Prm|Eff|Bnd|Amb)' /proc/1/status"));
  EXPECT_THAT(world_.sink.Messages(),
              ElementsAre("CapInh:\t0000000000000000", "CapPrm:\t00000000a00c25fb",
                          "CapEff:\t00000000a00c25fb", "CapBnd:\t00000000a00c25fb",
                          "CapAmb:\t0000000000000000"));
}

// The rest belongs to the launcher and its other replicas.
TEST_F(Machines, HaveAnInitThatHoldsOnlyItsOwnSocketAndSignals) {
  world_.Run(
      OnMachine("ls -l /proc/1/fd | sed -n 's/.* -> //p' | sed 's/[0-9]*//g' | grep -v null | sort;"
                " grep -c rw-s /proc/1/maps"));
  EXPECT_THAT(world_.sink.Messages(), ElementsAre("anon_inode:[signalfd]", "socket:[]", "0"));
}

// Root of a machine may copy the descriptors of its init.
TEST_F(Machines, CanBreakNoConnectionOfTheLauncherButTheirOwn) {
  world_.Launch(AShell("exec sleep 1000", AKey(1)));
  world_.AwaitStarts(1);
  world_.Launch(
      APython("import ctypes, os, socket, time\n"
              "libc = ctypes.CDLL(None)\n"
              "init = libc.syscall(434, 1, 0)\n"  // pidfd_open
              "for name in os.listdir('/proc/1/fd'):\n"
              "    copy = libc.syscall(438, init, int(name), 0)\n"  // pidfd_getfd
              "    if copy >= 0 and os.readlink(f'/proc/self/fd/{copy}').startswith('socket:'):\n"
              "        socket.socket(fileno=copy).shutdown(socket.SHUT_RDWR)\n"
              "time.sleep(1000)\n"));
  const engine::ReplicaExit exit = world_.AwaitExits(1).back();
  EXPECT_EQ(exit.key, AKey());
  EXPECT_EQ(exit.signal, SIGKILL);
  EXPECT_EQ(world_.Run(AShell("", AKey(2))).exit_code, 0);
  EXPECT_EQ(world_.ExitCount(), 2u) << "the other replica has ended, too";
}

// Root of a machine may send over a copy of the socket of its init. A machine whose end is reported
// must end: the next start of the replica has the same boot disk.
TEST_F(Machines, EndWhenAProgramReportsTheirEnd) {
  launcher::Report faked;
  faked.kind = launcher::Report::kEnded;
  faked.left_running = INT_MIN;
  std::strcpy(faked.left, "1 conmon\n");
  const std::string bytes(reinterpret_cast<const char*>(&faked), sizeof faked);
  world_.Launch(
      APython("import base64, ctypes, os, signal, socket, time\n"
              "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\n"
              "print('ready', flush=True)\n"
              "signal.sigwait([signal.SIGUSR1])\n"
              "libc = ctypes.CDLL(None)\n"
              "init = libc.syscall(434, 1, 0)\n"  // pidfd_open
              "for name in os.listdir('/proc/1/fd'):\n"
              "    copy = libc.syscall(438, init, int(name), 0)\n"  // pidfd_getfd
              "    if copy >= 0 and os.readlink(f'/proc/self/fd/{copy}').startswith('socket:'):\n"
              "        socket.socket(fileno=copy).send(base64.b64decode('" +
              Base64(bytes) +
              "'))\n"
              "time.sleep(1000)\n"));
  ASSERT_TRUE(world_.sink.AwaitMessage("ready"));
  const engine::RunKey run = AKey().run;
  const auto living = world_.launcher->LivingOf(run.project, run.job_id);
  ASSERT_EQ(living.size(), 1u);
  const Fd init(static_cast<int>(::syscall(SYS_pidfd_open, living.front().init, 0)));
  world_.launcher->Signal(AKey(), SIGUSR1);
  EXPECT_EQ(world_.AwaitExits(1).back().exit_code, 0);
  pollfd end{init.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&end, 1, 30'000), 1) << "the machine of the ended replica runs on";
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

// Root of a machine may follow the link, out of its own files.
TEST_F(Machines, HaveAnInitWhoseProgramIsNoFileOfTheHost) {
  if (const auto setting = ReadFile("/proc/sys/vm/memfd_noexec");
      setting.ok() && *setting == "2\n") {
    GTEST_SKIP() << "vm.memfd_noexec of this host is 2";
  }
  struct stat before {};
  struct stat after {};
  ASSERT_EQ(::stat(LauncherProgram().c_str(), &before), 0);
  world_.Run(
      APython("import fcntl, os\n"
              "os.chmod('/proc/1/exe', 0o1755)\n"
              "with open('/proc/1/exe', 'rb') as program:\n"
              "    print('seals', fcntl.fcntl(program, 1034))\n"));  // F_GET_SEALS
  EXPECT_THAT(world_.sink.Messages(), ElementsAre("seals 15"));      // all
  ASSERT_EQ(::stat(LauncherProgram().c_str(), &after), 0);
  EXPECT_EQ(after.st_mode, before.st_mode) << "the machine has changed the file";
  ::chmod(LauncherProgram().c_str(), before.st_mode & 07777);
}

// NVIDIA's libraries make the files of GPUs that are not lent, where they may. These machines have
// the host's /dev, in which only root of the host may make files at all.
TEST_F(Machines, CannotMakeTheFilesOfDevices) {
  world_.Run(
      APython("import errno, os, stat\n"
              "open('file', 'w').close()\n"
              "for place in ('device', '/dev/caip-test'):\n"
              "    try:\n"
              "        os.mknod(place, 0o600 | stat.S_IFCHR, os.makedev(1, 3))\n"
              "    except OSError as error:\n"
              "        print(place, errno.errorcode[error.errno])\n"));
  EXPECT_THAT(world_.sink.Messages(),
              ElementsAre("device EPERM",
                          IsRootOfHost() ? "/dev/caip-test EPERM" : "/dev/caip-test EACCES"));
}

TEST_F(Machines, HaveOnlyTheirOwnProcesses) {
  world_.Run(OnMachine("cat /proc/1/comm; echo $$; set -- /proc/[0-9]*; echo $#"));
  EXPECT_THAT(world_.sink.Messages(), ElementsAre("caip-replica", "2", "2"));
}

TEST_F(Machines, HaveTheirOwnDevicesAndAddress) {
  world_.Run(OnMachine("ls /sys/class/net; cat /proc/net/fib_trie | grep -c 10.128.0.2"));
  EXPECT_THAT(world_.sink.Messages(), ElementsAre("eth0", "lo", ::testing::Ne("0")));
}

TEST_F(Machines, GetANetworkAfterItCouldNotBeOpened) {
  std::promise<launcher::Report> opened;
  LauncherLink::Listener listener;
  listener.report =
      listener.network = [&](const launcher::Report& report) { opened.set_value(report); };
  listener.watched = [](uint64_t, Fd, pid_t) {};
  listener.gone = [] {};
  const auto link = LauncherLink::Start(LauncherProgram(), std::move(listener));
  ASSERT_TRUE(link.ok()) << link.error().message;
  RunNetworks networks;
  {
    const NoDescriptors none;
    EXPECT_FALSE(networks.Open(**link, AKey().run, network_).ok());
  }
  const auto number = networks.Open(**link, AKey().run, network_);
  ASSERT_TRUE(number.ok()) << number.error().message;
  auto report = opened.get_future();
  ASSERT_EQ(report.wait_for(std::chrono::seconds(30)), std::future_status::ready);
  const launcher::Report found = report.get();
  EXPECT_EQ(found.kind, launcher::Report::kNetworkOpened);
  EXPECT_EQ(found.replica, *number);
}

TEST_F(Machines, HaveEveryPortFree) {
  world_.Run(
      APython("import socket\n"
              "held = [socket.create_server(('0.0.0.0', port)) for port in "
              "(22, 80, 443, 2222, 8080)]\nprint(len(held))\n"));
  EXPECT_THAT(world_.sink.Messages(), ElementsAre("5"));
}

TEST_F(Machines, ReachWhatListensOnTheHostByAnAddressOfItsOwn) {
  const auto [listening, port] = ListenOnHost();
  const std::string connect =
      "import socket\nfor host in '127.0.0.1', '10.128.255.254':\n"
      "    print(socket.socket().connect_ex((host, " +
      std::to_string(port) + ")))\n";
  world_.Run(APython(connect));
  EXPECT_THAT(world_.sink.Messages(), ElementsAre(std::to_string(ECONNREFUSED), "0"));
}

// The way to other hosts is a program, which starts with the first packet.
TEST_F(Machines, FindTheirWayToOtherHostsAgainWithAWarning) {
  const auto [listening, port] = ListenOnHost();
  world_.Launch(
      APython("import signal, socket\n"
              "def ask():\n"
              "    print(socket.socket().connect_ex(('10.128.255.254', " +
              std::to_string(port) +
              ")), flush=True)\n"
              "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})\n"
              "ask()\nprint('asked', flush=True)\nsignal.sigwait({signal.SIGTERM})\nask()\n"));
  ASSERT_TRUE(world_.sink.AwaitMessage("asked"));
  const pid_t nat = FindNat();
  ASSERT_GT(nat, 0);
  ASSERT_EQ(::kill(nat, SIGKILL), 0);
  ASSERT_TRUE(world_.sink.AwaitMessage("(caip-nat) was killed by signal 9"));
  world_.launcher->Signal(AKey(), SIGTERM);
  EXPECT_EQ(world_.AwaitExits(1).back().exit_code, 0);
  EXPECT_THAT(world_.sink.Messages("worker-replica-0"), ElementsAre("0", "asked", "0"));
  const auto warned = world_.sink.Messages("service");
  ASSERT_EQ(warned.size(), 1u);
  EXPECT_THAT(warned.front(), HasSubstr("It is started again with the next packet."));
  EXPECT_NE(FindNat(), 0);
}

TEST_F(Machines, HaveTheResolverOfTheirNetwork) {
  auto launch = APython("print(open('/etc/resolv.conf').readline())");
  world_.Run(std::move(launch));
  if (world_.sink.Messages().empty()) GTEST_SKIP() << "this host has no /etc/resolv.conf";
  EXPECT_EQ(world_.sink.Messages().front(), "nameserver 10.128.255.253");
}

TEST(ResolverText, KeepsTheSearchListAndTheOptions) {
  EXPECT_EQ(ResolverText("# by hand\nnameserver 127.0.0.53\nsearch corp.example\noptions edns0\n"),
            "nameserver 10.128.255.253\nsearch corp.example\noptions edns0\n");
}

TEST_F(Machines, ReachTheListenersOfTheirNetwork) {
  world_.Launch(
      APython("import socket\ns = socket.create_connection(('169.254.169.254', 80))\n"
              "print(s.makefile().readline())\n"));
  const auto [fd, client] = Accept();
  EXPECT_THAT(client, HasSubstr("10.128.0.2:"));
  ASSERT_EQ(::write(fd.get(), "hello\n", 6), 6);
  world_.AwaitExits(1);
  EXPECT_THAT(world_.sink.Messages(), ElementsAre("hello"));
  EXPECT_EQ(endpoints_.front().first, "metadata");
}

TEST_F(Machines, OfARunReachEachOther) {
  world_.Launch(
      APython("import socket\ns = socket.create_server(('0.0.0.0', 2222))\n"
              "print('listens', flush=True)\nconnection, client = s.accept()\n"
              "print(client[0], connection.makefile().readline())\n"));
  ASSERT_TRUE(world_.sink.AwaitMessage("listens"));
  world_.Launch(
      APython("import socket\n"
              "socket.create_connection(('10.128.0.2', 2222)).sendall(b'from 1\\n')\n",
              AKey(1)));
  world_.AwaitExits(2);
  EXPECT_THAT(world_.sink.Messages(), ElementsAre("listens", "10.128.0.3 from 1"));
  EXPECT_EQ(EndpointCount(), 1u);
}

TEST_F(Machines, OfOtherRunsHaveTheSameAddressesAndAreOutOfReach) {
  world_.Launch(
      APython("import socket\ns = socket.create_server(('0.0.0.0', 2222))\n"
              "print('listens', flush=True)\ns.accept()\n"));
  ASSERT_TRUE(world_.sink.AwaitMessage("listens"));
  auto other = APython(
      "import socket\ns = socket.socket()\ns.settimeout(0.2)\ntry:\n"
      "  s.connect(('10.128.0.2', 2222))\nexcept OSError as e:\n  print(type(e).__name__)\n",
      AKey(1));
  other.key.run.job_id = "another";
  world_.Run(std::move(other));
  EXPECT_NE(world_.sink.Messages().back(), "listens");
  world_.launcher->Kill(AKey());
  world_.AwaitExits(2);
}

TEST_F(Machines, AreInTheSameNetworkAfterARestart) {
  world_.Run(OnMachine("exit 1"));
  world_.Run(OnMachine("hostname", AKey(0, 2)));
  EXPECT_THAT(world_.sink.Messages(), ElementsAre("cmle-training-worker-replica-0"));
  EXPECT_EQ(EndpointCount(), 1u);
  world_.launcher->Discard(AKey().run);
  world_.Run(OnMachine("exit 0", AKey(0, 3)));
  EXPECT_EQ(EndpointCount(), 2u);  // the old network has gone with its run
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

TEST_F(Machines, SayWhyANetworkCannotBeHad) {
  network_ = std::make_shared<engine::RunNetwork>(
      engine::RunNetwork{{{"127.0.0.1", 443, "a"}, {"127.0.0.1", 443, "b"}}});
  EXPECT_THAT(world_.Run(OnMachine("exit 0")).start_error,
              HasSubstr("listening in the network of a run: Address already in use"));
  network_ = std::make_shared<engine::RunNetwork>(engine::RunNetwork{{{"::1", 443, "a"}}});
  auto other = OnMachine("exit 0");
  other.key.run.job_id = "other";
  EXPECT_THAT(world_.Run(std::move(other)).start_error, HasSubstr("'::1'"));
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

/// Lets everything go on, and counts.
class CountingWatcher final : public ReplicaWatcher {
 public:
  Answer OutputSeen(const engine::ReplicaKey&) override {
    ++outputs;
    return Answer::kGoOn;
  }
  Verdict Before(const engine::ReplicaKey&, const FileOperation&) override { return {}; }
  Verdict After(const engine::ReplicaKey&, const FileOperation&, int) override { return {}; }
  void Gone(const engine::ReplicaKey&) override {}
  std::atomic<int> outputs = 0;
};

class WatchedMachines : public Machines {
 protected:
  engine::ReplicaExit RunWatched(Interposition::Kind interposition) {
    return RunWatched(interposition, OnMachine("echo one; echo two"));
  }
  engine::ReplicaExit RunWatched(Interposition::Kind interposition, engine::ReplicaLaunch launch) {
    LaunchWorld world({}, interposition);
    world.launcher->Watch({.output = true}, watcher_);
    const auto exit = world.Run(std::move(launch));
    messages_ = world.sink.Messages();
    return exit;
  }
  CountingWatcher watcher_;
  std::vector<std::string> messages_;
};

TEST_F(WatchedMachines, WaitsAtItsCallsAsAnyOther) {
  if (InterpositionOf().kind != Interposition::Kind::kSeccomp) {
    GTEST_SKIP() << "no seccomp notification: " << InterpositionOf().reason;
  }
  EXPECT_EQ(RunWatched(Interposition::Kind::kSeccomp).start_error, "");
  EXPECT_THAT(messages_, ElementsAre("one", "two"));
  EXPECT_EQ(watcher_.outputs, 2);
}

// The network and the processes of a machine are its own.
TEST_F(WatchedMachines, WaitsAtItsCallsWhereALibraryHoldsThem) {
  EXPECT_EQ(RunWatched(Interposition::Kind::kPreload).start_error, "");
  EXPECT_THAT(messages_, ElementsAre("one", "two"));
  EXPECT_EQ(watcher_.outputs, 2);
}

TEST_F(WatchedMachines, WaitsAtTheCallsOfItsThreadsWhereALibraryHoldsThem) {
  engine::ReplicaLaunch launch = OnMachine("");
  launch.program = run::LocalCommand{
      {"python3", "-c",
       "import os, threading\nthread = threading.Thread(target=lambda: os.write(1, b'one\\n'))\n"
       "thread.start(); thread.join(); os.write(1, b'two\\n')"}};
  EXPECT_EQ(RunWatched(Interposition::Kind::kPreload, std::move(launch)).start_error, "");
  EXPECT_THAT(messages_, ElementsAre("one", "two"));
  EXPECT_EQ(watcher_.outputs, 2);
}

TEST_F(WatchedMachines, OfImagesAreRefusedWhereALibraryHoldsCalls) {
  engine::ReplicaLaunch launch = OnMachine("echo one");
  launch.image = std::make_shared<const engine::PreparedImage>();
  EXPECT_THAT(RunWatched(Interposition::Kind::kPreload, std::move(launch)).start_error,
              HasSubstr("The programs of an image are watched by seccomp notification only"));
}

TEST(TryMachine, TellsWhyNot) {
  EXPECT_THAT(TryMachine("/nowhere/caip-launcher").value_or(""), HasSubstr("caip-launcher"));
}

}  // namespace
}  // namespace caip::host
