// Machines on a host whose directories, such as /var, are file systems of their own.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "tests/host/machine/mounted_host_world.h"

namespace caip::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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

// The kernel allows two overlays on each other. One on the root of a container is the first.
TEST_P(MountedHost, ShowsAVarThatCanHaveNoOverlayReadOnly) {
  const TemporaryDirectory of_host("caip-var-");
  OnHost(
      [&] {
        const Path tmp = of_host.path() / "tmp";
        return MountMemory("/mnt") && MountMemory("/var") && MakeManyFiles("/var/of-host") &&
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

INSTANTIATE_TEST_SUITE_P(Hosts, MountedHost, ::testing::Values(User::kRoot, User::kRootOfNamespace),
                         [](const auto& tested) {
                           return tested.param == User::kRoot ? "OfRoot" : "OfAUser";
                         });

}  // namespace
}  // namespace caip::host
