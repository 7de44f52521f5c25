// The boot disks of machines on a host whose mounts change between two boots.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>

#include "host/machine/layered_root.h"
#include "host/machine/machine_files.h"
#include "tests/host/machine/mounted_host_world.h"

namespace caip::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

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

// A small directory has no overlay, and a disk that has a layer for a directory needs one.
TEST_P(MountedHost, KeepsTheDiskOfAMachineIfADirectoryGrowsOrShrinks) {
  OnHost(
      [] {
        return MountMemory("/var") && MakeDirectories("/var/tmp").ok() &&
               MakeDirectories("/var/data").ok() && MakeDirectories("/var/disk").ok() &&
               MountMemory("/var/disk");
      },
      [] {
        LaunchWorld world({}, Interposition::Kind::kSeccomp, /*own_roots=*/true);
        EXPECT_THAT(Output(world, OnMachine("echo kept > /var/data/file")), IsEmpty());
        ASSERT_TRUE(MakeManyFiles("/var/data"));
        for (int boot = 2; boot <= 3; ++boot) {
          auto kept = OnMachine("cat /var/data/file; ls /var/data | wc -l", boot);
          kept.fresh_disk = false;
          EXPECT_THAT(Output(world, std::move(kept)), ElementsAre("kept", boot == 2 ? "21" : "1"));
          for (const auto& file : std::filesystem::directory_iterator("/var/data")) {
            RemoveTree(file.path());
          }
        }
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

}  // namespace
}  // namespace caip::host
