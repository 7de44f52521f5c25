// Machines on a host whose directories, such as /var, are file systems of their own. Each test
// makes such a host for a child process, in a mount namespace.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <future>
#include <set>

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

/// Stacks overlays on a directory until the kernel allows no other one. Needs a file system at
/// /mnt.
bool StackOverlays(const std::string& directory) {
  constexpr int kDepthMax = 3;
  const std::string options = "lowerdir=" + directory + ":/mnt";
  int depth = 0;
  while (depth < kDepthMax &&
         ::mount("overlay", directory.c_str(), "overlay", 0, options.c_str()) == 0) {
    ++depth;
  }
  return depth > 0 && depth < kDepthMax;
}

/// Makes a host with a file system in memory as its root, which shows the directories of this host
/// but those of `without`. Calls `fill` with its place before it becomes the root.
bool EnterRootWithout(const std::set<std::string>& without,
                      const std::function<bool(const Path& root)>& fill) {
  const Path root = "/mnt";
  if (!MountMemory("/mnt")) return false;
  for (const auto& entry : std::filesystem::directory_iterator("/")) {
    const std::string name = entry.path().filename().string();
    if (name == "mnt" || without.contains(name)) continue;
    std::error_code error;
    const Path place = root / name;
    if (entry.is_symlink()) {
      std::filesystem::copy_symlink(entry.path(), place, error);
    } else if (entry.is_directory()) {
      const bool made =
          MakeDirectories(place).ok() &&
          ::mount(entry.path().c_str(), place.c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0;
      if (!made) return false;
    }
  }
  return fill(root) && ::chdir("/mnt") == 0 && ::syscall(SYS_pivot_root, ".", ".") == 0 &&
         ::umount2(".", MNT_DETACH) == 0 && ::chdir("/") == 0;
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

// The host mounts a part of the file system elsewhere: in a directory that machines have empty.
TEST_P(MountedHost, HidesTheStateWhereANameOrAVolumeLeadsToAnotherMountOfIt) {
  const TemporaryDirectory other("caip-other-");
  OnHost(
      [&] {
        return MountMemory("/mnt") && MakeDirectories("/mnt/disk/state/keys").ok() &&
               WriteFile("/mnt/disk/state/keys/token", "secret\n").ok() &&
               WriteFile("/mnt/disk/file", "host\n").ok() &&
               ::mount("/mnt/disk", other.path().c_str(), nullptr, MS_BIND, nullptr) == 0;
      },
      [&] {
        LaunchWorld world(
            ProcessLauncherOptions{.state_directory = "/mnt/disk/state", .own_roots = true});
        auto launch = OnMachine("cat $FILE; find /tmp /mnt /srv -name token");
        launch.environment.emplace_back("FILE", (other.path() / "file").string());
        launch.environment.emplace_back("KEYS", (other.path() / "state/keys").string());
        launch.volumes = {{other.path().string(), "/srv/caip-shared"},
                          {(other.path() / "state/keys").string(), "/srv/caip-keys"}};
        EXPECT_THAT(Output(world, std::move(launch)), ElementsAre("host"));
      });
}

// A machine can replace directories of its disk by links. The next boot must not follow them.
TEST_P(MountedHost, GetsNoDirectoriesThroughLinksThatAMachineHasMade) {
  const TemporaryDirectory directory("caip-links-");
  const Path disk = directory.path() / "disk";
  const Path target = directory.path() / "target";
  OnHost([&] { return MakeDirectories(target).ok(); },
         [&] {
           const MachineFiles files("/srv/caip-absent/state");
           auto launch = OnMachine("true");
           launch.volumes = {{target.string(), "/srv/caip-absent/volume"}};
           launch.user_directories = {"srv/caip-absent/directory"};
           launch.working_directory = "srv/caip-absent/working";
           ASSERT_TRUE(files.Prepare(disk, launch).ok());
           const Path parent = UpperOf(disk, "/srv/caip-absent");
           RemoveTree(parent);
           std::filesystem::create_directory_symlink(target, parent);
           EXPECT_TRUE(files.Prepare(disk, launch).ok());
           EXPECT_TRUE(std::filesystem::is_empty(target));
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

// The kernel allows two overlays on each other. One on the root of a container is the first.
TEST_P(MountedHost, ShowsAVarThatCanHaveNoOverlayReadOnly) {
  const TemporaryDirectory of_host("caip-var-");
  OnHost(
      [&] {
        const Path tmp = of_host.path() / "tmp";
        return MountMemory("/mnt") && MountMemory("/var") && MakeDirectories("/var/of-host").ok() &&
               MakeDirectories("/var/tmp").ok() && StackOverlays("/var") && StackOverlays("/etc") &&
               MakeDirectories(tmp).ok() && WriteFile(tmp / "of-host", "").ok() &&
               ::mount(tmp.c_str(), "/var/tmp", nullptr, MS_BIND, nullptr) == 0;
      },
      [] {
        LaunchWorld world({}, Interposition::Kind::kSeccomp, /*own_roots=*/true);
        EXPECT_THAT(Output(world, OnMachine("ls -A /var/tmp; stat -c %a /var/tmp\n"
                                            "echo mine > /var/tmp/mine; cat /etc/hostname\n"
                                            "test -d /var/of-host && echo there\n"
                                            "{ echo x > /var/of-host/x; } 2>&1")),
                    ElementsAre("1777", "host-0", "there", HasSubstr("Read-only file system")));
        auto kept = OnMachine("cat /var/tmp/mine", 2);
        kept.fresh_disk = false;
        EXPECT_THAT(Output(world, std::move(kept)), ElementsAre("mine"));
        EXPECT_NE(::access("/var/tmp/mine", F_OK), 0);
      });
}

constexpr char kWriteInVar[] = "echo kept > /var/file; echo mine > /var/tmp/mine";
constexpr char kReadInVar[] = "cat /var/file; ls -A /var/tmp; cat /etc/hostname";

TEST_P(MountedHost, KeepsTheDiskOfAMachineIfAMountIsNew) {
  const TemporaryDirectory of_host("caip-var-");
  OnHost([] { return ::access("/var/file", F_OK) != 0; },
         [&] {
           LaunchWorld world({}, Interposition::Kind::kSeccomp, /*own_roots=*/true);
           EXPECT_THAT(Output(world, OnMachine(kWriteInVar)), IsEmpty());
           const Path tmp = of_host.path() / "tmp";
           ASSERT_TRUE(MakeDirectories(tmp).ok() && WriteFile(tmp / "of-host", "").ok());
           ASSERT_TRUE(MountOnItself("/var") && MountOnItself("/etc"));
           ASSERT_EQ(::mount(tmp.c_str(), "/var/tmp", nullptr, MS_BIND, nullptr), 0);
           auto kept = OnMachine(kReadInVar, 2);
           kept.fresh_disk = false;
           EXPECT_THAT(Output(world, std::move(kept)), ElementsAre("kept", "mine", "host-0"));
         });
}

TEST_P(MountedHost, KeepsTheDiskOfAMachineIfAMountIsGone) {
  OnHost([] { return MountOnItself("/var") && MountOnItself("/etc"); },
         [] {
           LaunchWorld world({}, Interposition::Kind::kSeccomp, /*own_roots=*/true);
           EXPECT_THAT(Output(world, OnMachine(kWriteInVar)), IsEmpty());
           ASSERT_EQ(::umount2("/var", MNT_DETACH), 0);
           ASSERT_EQ(::umount2("/etc", MNT_DETACH), 0);
           auto kept = OnMachine(kReadInVar, 2);
           kept.fresh_disk = false;
           EXPECT_THAT(Output(world, std::move(kept)), ElementsAre("kept", "mine", "host-0"));
         });
}

// The mount has nothing of the machine's own any more.
TEST_P(MountedHost, KeepsTheDiskOfAMachineIfADirectoryIsNew) {
  OnHost([] { return MountMemory("/mnt"); },
         [] {
           const TemporaryDirectory shared("caip-shared-");
           LaunchWorld world({}, Interposition::Kind::kSeccomp, /*own_roots=*/true);
           auto launch = OnMachine("echo kept > /mnt/file");
           launch.volumes = {{shared.path().string(), "/mnt/volume"}};
           auto kept = OnMachine("cat /mnt/file; echo more >> /mnt/file; wc -l < /mnt/file", 2);
           kept.volumes = launch.volumes;
           kept.fresh_disk = false;
           EXPECT_THAT(Output(world, std::move(launch)), IsEmpty());
           ASSERT_TRUE(MakeDirectories("/mnt/volume").ok());
           EXPECT_THAT(Output(world, std::move(kept)), ElementsAre("kept", "2"));
         });
}

std::string ModeOf(const char* path) {
  struct stat status {};
  EXPECT_EQ(::stat(path, &status), 0);
  char digits[16];
  std::snprintf(digits, sizeof digits, "%o", status.st_mode & 07777u);
  return digits;
}

// Of files that other users of the machine need.
TEST_P(MountedHost, GivesDirectoriesTheModesOfTheHost) {
  OnHost(
      [] {
        ::umask(077);
        return MountOnItself("/var") && MountMemory("/mnt") && ::chmod("/mnt", 01777) == 0;
      },
      [] {
        const TemporaryDirectory shared("caip-shared-");
        LaunchWorld world({}, Interposition::Kind::kSeccomp, /*own_roots=*/true);
        auto launch = OnMachine("stat -c %a / /var /etc /mnt /user_dir /etc/hostname /etc/hosts");
        launch.volumes = {{shared.path().string(), "/mnt/volume"}};
        EXPECT_THAT(
            Output(world, std::move(launch)),
            ElementsAre(ModeOf("/"), ModeOf("/var"), ModeOf("/etc"), "1777", "755", "644", "644"));
      });
}

TEST_P(MountedHost, HidesTemporaryFilesAndTheHomeBehindLinks) {
  OnHost(
      [] {
        return EnterRootWithout({"var", "root", "data"}, [](const Path& root) {
          std::error_code error;
          std::filesystem::create_directory_symlink("data/var", root / "var", error);
          std::filesystem::create_directory_symlink("var/roothome", root / "root", error);
          const Path data = root / "data";
          return MakeDirectories(data).ok() && MountMemory(data.c_str()) &&
                 MakeDirectories(data / "var/tmp").ok() &&
                 MakeDirectories(data / "var/roothome").ok() &&
                 WriteFile(data / "var/file", "host\n").ok() &&
                 WriteFile(data / "var/tmp/secret", "").ok() &&
                 WriteFile(data / "var/roothome/secret", "").ok();
        });
      },
      [] {
        LaunchWorld world({}, Interposition::Kind::kSeccomp, /*own_roots=*/true);
        EXPECT_THAT(Output(world, OnMachine("readlink /var; cat /var/file\n"
                                            "ls -A /var/tmp /data/var/tmp | grep secret\n"
                                            "ls -A /root /data/var/roothome | grep secret\n"
                                            "echo mine > /var/tmp/mine; cat /data/var/tmp/mine")),
                    ElementsAre("data/var", "host", "mine"));
        EXPECT_NE(::access("/data/var/tmp/mine", F_OK), 0);
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
