// The state directory, temporary files and the home, which machines do not see, on a host whose
// directories are file systems of their own.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "tests/host/machine/mounted_host_world.h"

namespace caip::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

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

}  // namespace
}  // namespace caip::host
