// The layer between the host's files and a machine's boot disk.

#include "host/machine/machine_places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "host/machine/boot_disks.h"
#include "host/machine/host_tree.h"
#include "host/machine/machines.h"
#include "tests/host/launch_world.h"

namespace caip::host {
namespace {

using launcher::kMountOpaque;
using launcher::MachineMount;
using launcher::MountKind;
using ::testing::ElementsAre;

std::string Describe(const MachineMount& place) {
  const std::string kind = place.kind == MountKind::kFile ? "file " : "directory ";
  return kind + place.target + (place.data.empty() ? "" : " " + place.data) +
         (place.flags & kMountOpaque ? " opaque" : "");
}

std::vector<std::string> Describe(const std::vector<MachineMount>& places) {
  std::vector<std::string> texts;
  for (const MachineMount& place : places) texts.push_back(Describe(place));
  return texts;
}

bool IsHiddenFromMachine(const std::string& path) {
  return IsInEmptyDirectory(path) || IsBelow(path, "/srv/caip-state");
}

TEST(MachinePlaces, HideTheHostsFilesAndHoldWhatIsMounted) {
  const TemporaryDirectory project("caip-project-");
  const std::string directory = project.path().string();
  const std::string file = directory + "/inner/data";
  ASSERT_TRUE(MakeDirectories(directory + "/inner").ok());
  ASSERT_TRUE(WriteFile(file, "text").ok());
  engine::ReplicaLaunch launch;
  launch.user_directories = {"root", "usr/bin", "srv/caip-absent"};
  launch.volumes = {{directory, "/srv/caip-volume"}, {directory, "/usr"}};
  const std::vector<MachineMount> mounts = {
      {MountKind::kBind, directory, "/usr/lib"},  // the host has it
      {MountKind::kBind, file, "/srv/caip-state/ca/file"},
      {MountKind::kBind, directory, "/tmp/project"},
      {MountKind::kBind, file, "/tmp/project/file"},  // its place is in the mount before
      {MountKind::kFileSystem, "tmpfs", "/root/memory"},
      {MountKind::kBind, "/caip-absent", "/tmp/absent"},
      {MountKind::kLink, "/usr", "/tmp/link"}};
  EXPECT_THAT(Describe(PlacesOf(launch, {"/srv/caip-state"}, mounts, IsHiddenFromMachine)),
              ElementsAre("directory /tmp 1777 opaque", "directory /var/tmp 1777 opaque",
                          "directory /root 755 opaque", "directory /srv/caip-state 755 opaque",
                          "directory /root 755", "directory /srv/caip-absent 755",
                          "directory /srv/caip-volume 755", "file /srv/caip-state/ca/file",
                          "directory /tmp/project 755", "directory /root/memory 755"));
}

TEST(MachinePlaces, HideAStateDirectoryInAHiddenDirectoryAlready) {
  EXPECT_THAT(Describe(PlacesOf({}, {"/tmp/state"}, {}, IsInEmptyDirectory)),
              ElementsAre("directory /tmp 1777 opaque", "directory /var/tmp 1777 opaque",
                          "directory /root 755 opaque"));
}

class MachinePlacesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    if (const auto why_not = TryMachine(LauncherProgram(), world_.state.path())) {
      GTEST_SKIP() << "replicas cannot have machines here: " << *why_not;
    }
  }

  std::vector<std::string> Output(const std::string& script, int boot, bool fresh_disk = true) {
    auto launch = AShell(script, AKey(0, boot));
    launch.user_directories = {"tmp", "var/hypertune"};
    launch.fresh_disk = fresh_disk;
    launch.isolation = engine::ReplicaIsolation{std::make_shared<engine::RunNetwork>(),
                                                "10.128.0.2", "127.0.0.1 localhost\n"};
    launch.environment.emplace_back("DATA", (project_.path() / "data").string());
    const size_t before = world_.sink.Messages().size();
    EXPECT_EQ(world_.Run(std::move(launch)).start_error, "");
    auto messages = world_.sink.Messages();
    return {messages.begin() + static_cast<std::ptrdiff_t>(before), messages.end()};
  }
  std::vector<std::string> OnBootDisk() {
    const Path changes = BootDisks(world_.state.path()).Of(AKey()) / "changes";
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(changes)) {
      names.push_back(entry.path().lexically_relative(changes).string());
    }
    std::ranges::sort(names);
    return names;
  }

  /// What the machine sees in its /tmp of the way to the project.
  std::string ProjectInTmp() const {
    return project_.path().lexically_relative("/tmp").begin()->string();
  }

  TemporaryDirectory project_{"caip-project-"};
  LaunchWorld world_{{}, Interposition::Kind::kSeccomp, /*own_roots=*/true};
};

// The boot disk has only what the replica writes, which keeps start and end of a machine cheap.
TEST_F(MachinePlacesTest, AreNotOnTheBootDisk) {
  ASSERT_TRUE(WriteFile(project_.path() / "data", "named\n").ok());
  EXPECT_THAT(Output("cat \"$DATA\"; ls -d /var/hypertune", 1),
              ElementsAre("named", "/var/hypertune"));
  EXPECT_THAT(OnBootDisk(), ElementsAre("user_dir"));
  EXPECT_THAT(Output("echo x > /tmp/file; stat -c %a /tmp", 2), ElementsAre("1777"));
  EXPECT_THAT(OnBootDisk(), ElementsAre("tmp", "tmp/file", "user_dir"));
  EXPECT_THAT(Output("ls -A /tmp | grep -v " + ProjectInTmp() + "; cat \"$DATA\"", 3, false),
              ElementsAre("file", "named"));
}

// Programs such as `find -xdev` and `du -x` stay on one file system.
TEST_F(MachinePlacesTest, LookLikeTheSameFileSystem) {
  ASSERT_TRUE(WriteFile(project_.path() / "data", "named\n").ok());
  EXPECT_THAT(Output("echo x > /tmp/file\n"
                     "stat -c %d / /tmp /tmp/file /etc /etc/passwd /root . | sort -u | wc -l",
                     1),
              ElementsAre("1"));
}

}  // namespace
}  // namespace caip::host
