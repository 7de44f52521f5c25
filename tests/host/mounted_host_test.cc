// Machines on a host whose directories, such as /var, are file systems of their own. Each test
// makes such a host for a child process, in a mount namespace.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <future>

#include "host/machine/layered_root.h"
#include "host/machine/machine_files.h"
#include "host/machine/machines.h"
#include "host/machine/overlays.h"
#include "host/process/launcher_link.h"
#include "tests/host/launch_world.h"

namespace caip::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kNoHost = 77;

/// The user who runs caip. Root of a user namespace has no rights over the host.
enum class User { kRoot, kRootOfNamespace };

bool MapToRoot(uid_t user, gid_t group) {
  const auto write = [](const char* file, const std::string& text) {
    return WriteAll(Fd(::open(file, O_WRONLY | O_CLOEXEC)).get(), text);
  };
  return write("/proc/self/setgroups", "deny") &&
         write("/proc/self/uid_map", "0 " + std::to_string(user) + " 1") &&
         write("/proc/self/gid_map", "0 " + std::to_string(group) + " 1");
}

bool EnterHost(User user) {
  const uid_t id = ::geteuid();
  const gid_t group = ::getegid();
  const int kinds = user == User::kRoot ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS;
  if (::unshare(kinds) != 0) return false;
  if (user == User::kRootOfNamespace && !MapToRoot(id, group)) return false;
  return ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

/// Makes a mount of a directory, with all that is mounted in it.
bool MountOnItself(const char* directory) {
  return ::mount(directory, directory, nullptr, MS_BIND | MS_REC, nullptr) == 0;
}

/// Mounts an empty file system at a directory.
bool MountMemory(const char* directory) {
  return ::mount("tmpfs", directory, "tmpfs", 0, "mode=755") == 0;
}

bool HasMachines() {
  const TemporaryDirectory state;
  return !TryMachine(LauncherProgram(), state.path());
}

class MountedHost : public ::testing::TestWithParam<User> {
 protected:
  /// Calls both in a child process. `make_host` answers whether the host is as wanted.
  static void OnHost(const std::function<bool()>& make_host, const std::function<void()>& test) {
    if (GetParam() == User::kRoot && !IsRootOfHost()) GTEST_SKIP() << "needs root";
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      int result = kNoHost;
      if (EnterHost(GetParam()) && HasMachines() && make_host()) {
        test();
        result = HasFailure() ? 1 : 0;
      }
      std::fflush(nullptr);
      ::_exit(result);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == kNoHost) GTEST_SKIP() << "there can be no such host here";
    EXPECT_EQ(WEXITSTATUS(status), 0) << "the failure of the child process is above";
  }

  static engine::ReplicaLaunch OnMachine(const std::string& script, int boot = 1) {
    auto launch = AShell(script, AKey(0, boot));
    launch.machine.host_name = "host-0";
    launch.user_directories = {"root", "tmp", "var/hypertune"};
    launch.isolation = engine::ReplicaIsolation{std::make_shared<engine::RunNetwork>(),
                                                "10.128.0.2", "127.0.0.1 localhost\n"};
    return launch;
  }

  static std::vector<std::string> Output(LaunchWorld& world, engine::ReplicaLaunch launch) {
    const size_t before = world.sink.Messages().size();
    EXPECT_EQ(world.Run(std::move(launch)).start_error, "");
    auto messages = world.sink.Messages();
    return {messages.begin() + static_cast<std::ptrdiff_t>(before), messages.end()};
  }
};

constexpr char kMetricFile[] = "/var/hypertune/output.metric";

TEST_P(MountedHost, GivesATrialItsMetricFileInAVarOfItsOwn) {
  OnHost([] { return MountOnItself("/var"); },
         [] {
           LaunchWorld world({}, Interposition::Kind::kSeccomp, /*own_roots=*/true);
           auto launch = OnMachine("echo '{}' > /var/hypertune/output.metric");
           launch.metrics = engine::MetricSource{"accuracy", kMetricFile, ""};
           EXPECT_THAT(Output(world, std::move(launch)), IsEmpty());
           EXPECT_EQ(*ReadFile(world.launcher->OnHost(AKey(), kMetricFile)), "{}\n");
         });
}

// A machine that crashes keeps its disk, and one that loses its power does not.
TEST_P(MountedHost, GivesMachinesTheirOwnTmpInAVarOfItsOwn) {
  const TemporaryDirectory of_host("caip-var-");
  OnHost(
      [&] {
        const Path tmp = of_host.path() / "tmp";
        return MountOnItself("/var") && MakeDirectories(tmp).ok() &&
               WriteFile(tmp / "of-host", "").ok() &&
               ::mount(tmp.c_str(), "/var/tmp", nullptr, MS_BIND, nullptr) == 0;
      },
      [] {
        LaunchWorld world({}, Interposition::Kind::kSeccomp, /*own_roots=*/true);
        EXPECT_THAT(Output(world, OnMachine("ls -A /var/tmp; stat -c %a /var/tmp\n"
                                            "echo mine > /var/tmp/mine")),
                    ElementsAre("1777"));
        auto kept = OnMachine("cat /var/tmp/mine", 2);
        kept.fresh_disk = false;
        EXPECT_THAT(Output(world, std::move(kept)), ElementsAre("mine"));
        EXPECT_THAT(Output(world, OnMachine("ls -A /var/tmp", 3)), IsEmpty());
        EXPECT_NE(::access("/var/tmp/mine", F_OK), 0);
      });
}

TEST_P(MountedHost, ShowsWhatIsMountedInAVarOfItsOwn) {
  OnHost(
      [] {
        return MountOnItself("/var") && MountMemory("/var/log") &&
               WriteFile("/var/log/of-host", "text\n").ok();
      },
      [] {
        LaunchWorld world({}, Interposition::Kind::kSeccomp, /*own_roots=*/true);
        EXPECT_THAT(Output(world, OnMachine("cat /var/log/of-host; test -d /var/lib && echo lib\n"
                                            "{ echo x > /var/log/x; } 2>&1")),
                    ElementsAre("text", "lib", HasSubstr("Read-only file system")));
      });
}

TEST_P(MountedHost, GivesMachinesTheirHostNameInAnEtcOfItsOwn) {
  OnHost([] { return MountOnItself("/etc"); },
         [] {
           LaunchWorld world({}, Interposition::Kind::kSeccomp, /*own_roots=*/true);
           EXPECT_THAT(
               Output(world, OnMachine("cat /etc/hostname /etc/hosts; echo x > /etc/caip-x\n"
                                       "grep -c ^root: /etc/passwd")),
               ElementsAre("host-0", "127.0.0.1 localhost", "1"));
           EXPECT_NE(::access("/etc/caip-x", F_OK), 0);
         });
}

TEST_P(MountedHost, ShowsAHomeOfItsOwnOnRequest) {
  OnHost(
      [] {
        return MountMemory("/root") && WriteFile("/root/file", "host\n").ok() &&
               MakeDirectories("/root/disk").ok() && MountMemory("/root/disk") &&
               WriteFile("/root/disk/file", "disk\n").ok();
      },
      [] {
        LaunchWorld world({}, Interposition::Kind::kSeccomp, /*own_roots=*/true);
        auto launch =
            OnMachine("cat /root/file /root/disk/file; echo mine > /root/new; cat /root/new");
        launch.sees_home = true;
        EXPECT_THAT(Output(world, std::move(launch)), ElementsAre("host", "disk", "mine"));
        EXPECT_NE(::access("/root/new", F_OK), 0);
        EXPECT_THAT(Output(world, OnMachine("ls -A /root", 2)), IsEmpty());
      });
}

// The volume has no directory on the host, whose file system shows the state directory.
TEST_P(MountedHost, HidesTheStateWhereAVolumeIsInItsFileSystem) {
  OnHost(
      [] {
        return MountMemory("/mnt") && MakeDirectories("/mnt/disk/deeper").ok() &&
               MountMemory("/mnt/disk/deeper") && MakeDirectories("/mnt/disk/state/keys").ok() &&
               WriteFile("/mnt/disk/state/keys/token", "secret\n").ok() &&
               WriteFile("/mnt/disk/file", "host\n").ok();
      },
      [] {
        const TemporaryDirectory shared("caip-shared-");
        LaunchWorld world(
            ProcessLauncherOptions{.state_directory = "/mnt/disk/state", .own_roots = true});
        auto launch = OnMachine(
            "cat /mnt/disk/file; find /mnt -name token; ls -A /mnt/disk/state\n"
            "echo new > /mnt/disk/deeper/volume/file");
        launch.volumes = {{shared.path().string(), "/mnt/disk/deeper/volume"}};
        EXPECT_THAT(Output(world, std::move(launch)), ElementsAre("host"));
        EXPECT_EQ(*ReadFile(shared.path() / "file"), "new\n");
      });
}

// A file system in memory hides the state directory. Programs must not fill the memory of the host.
TEST_P(MountedHost, TakesLittleInTheDirectoryThatHidesTheState) {
  OnHost([] { return MountMemory("/mnt") && MakeDirectories("/mnt/state").ok(); },
         [] {
           LaunchWorld world(
               ProcessLauncherOptions{.state_directory = "/mnt/state", .own_roots = true});
           EXPECT_THAT(
               Output(world, OnMachine("head -c 16000000 /dev/zero 2>&1 > /mnt/state/file\n"
                                       "test $(stat -f -c %c /mnt/state) -le 20000 && echo few")),
               ElementsAre(HasSubstr("No space left"), "few"));
         });
}

INSTANTIATE_TEST_SUITE_P(Hosts, MountedHost, ::testing::Values(User::kRoot, User::kRootOfNamespace),
                         [](const auto& tested) {
                           return tested.param == User::kRoot ? "OfRoot" : "OfAUser";
                         });

/// Starts machines whose root has an overlay of a directory of the host.
class RemovedDirectory : public ::testing::Test {
 protected:
  void SetUp() override {
    const engine::ReplicaLaunch launch;
    ASSERT_TRUE(files_.Prepare(disk_, launch).ok());
    machine_.mounts = BaseMounts();
    files_.AddTo(machine_, disk_, launch);
    if (const auto why_not = TryMachine(LauncherProgram(), state_.path())) {
      GTEST_SKIP() << "replicas cannot have machines here: " << *why_not;
    }
  }

  /// Adds the overlay after those of the root, as if a scan of the host had found the directory.
  void AddOverlay() {
    RootParts parts;
    parts.layers = {directory_.path().string()};
    ASSERT_TRUE(MakeLayers(disk_, parts).ok());
    launcher::Machine other;
    AddLayers(parts, disk_, other);
    machine_.mounts.push_back(other.mounts.back());
  }

  /// The report of the start of a machine, or of its end.
  launcher::Report Start(const std::string& command) {
    std::promise<launcher::Report> reported;
    LauncherLink::Listener listener;
    listener.report = [&](const launcher::Report& report) {
      using launcher::Report;
      if (report.kind == Report::kStartFailed || report.kind == Report::kEnded) {
        reported.set_value(report);
      }
    };
    listener.network = [](const launcher::Report&) {};
    listener.watched = [](uint64_t, Fd, pid_t) {};
    listener.gone = [] {};
    const auto link = LauncherLink::Start(LauncherProgram(), std::move(listener));
    EXPECT_TRUE(link.ok());
    const Fd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    LauncherLink::Replica replica;
    replica.number = 1;
    replica.directory = "/";
    replica.argv = {"/bin/sh", "-c", command};
    replica.out = replica.err = null.get();
    replica.network = 1;
    replica.address = *AddressNumber("10.128.0.2");
    replica.machine = machine_;
    EXPECT_TRUE((*link)->OpenNetwork(1, {}).ok());
    EXPECT_TRUE((*link)->Launch(replica).ok());
    auto answer = reported.get_future();
    EXPECT_EQ(answer.wait_for(std::chrono::seconds(60)), std::future_status::ready);
    return answer.get();
  }

  TemporaryDirectory state_;
  TemporaryDirectory directory_{"caip-removed-"};
  Path disk_ = state_.path() / "disks/disk";
  MachineFiles files_{state_.path()};
  launcher::Machine machine_;
};

TEST_F(RemovedDirectory, IsEmptyOnTheMachine) {
  AddOverlay();
  ASSERT_TRUE(WriteFile(directory_.path() / "file", "").ok());
  const std::string place = directory_.path().string();
  launcher::Report report = Start("test -e " + place + "/file");
  EXPECT_EQ(report.kind, launcher::Report::kEnded) << report.left;
  EXPECT_EQ(report.wait_status, 0) << "the overlay shows no files";
  ASSERT_TRUE(RenewWork(disk_).ok());
  RemoveTree(directory_.path());
  report = Start("test -d " + place + " && ! test -e " + place + "/file");
  EXPECT_EQ(report.kind, launcher::Report::kEnded) << report.left;
  EXPECT_EQ(report.wait_status, 0);
}

// All other reasons still fail the start.
TEST_F(RemovedDirectory, IsNotTakenForALayerThatIsMissing) {
  AddOverlay();
  RemoveTree(LayerOf(disk_, directory_.path().string()));
  const launcher::Report report = Start("exit 0");
  EXPECT_EQ(report.kind, launcher::Report::kStartFailed);
  EXPECT_EQ(report.step, launcher::Step::kMount);
}

}  // namespace
}  // namespace caip::host
