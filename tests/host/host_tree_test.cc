// The parts of a host's root that the machine of a user without rights over the host gets.

#include "host/machine/host_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/files.h"

namespace caip::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uid_t kNobody = 65534;

/// Lets this process read as that user.
class AsNobody {
 public:
  AsNobody() { EXPECT_EQ(::seteuid(kNobody), 0); }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;
  ~AsNobody() { EXPECT_EQ(::seteuid(0), 0); }
};

class RootPartsTest : public ::testing::Test {
 protected:
  void MakeDirectory(const std::string& place, mode_t mode = 0755) {
    ASSERT_TRUE(MakeDirectories(OnHost(place)).ok());
    ASSERT_EQ(::chmod(OnHost(place).c_str(), mode), 0);
  }
  void MakeFile(const std::string& place) {
    ASSERT_TRUE(MakeDirectories(OnHost(place).parent_path()).ok());
    ASSERT_TRUE(WriteFile(OnHost(place), "text").ok());
  }
  void MakeLink(const std::string& target, const std::string& place) {
    std::filesystem::create_symlink(target, OnHost(place));
  }
  Path OnHost(const std::string& place) const { return root_.path() / place.substr(1); }

  const Path& root() const { return root_.path(); }
  RootParts Parts(const std::vector<std::string>& mounts, const OwnFiles& own = {}) const {
    std::vector<HostMount> all = {{"/", "ext4"}};
    for (const std::string& place : mounts) all.push_back({place, "ext4"});
    return PartsOfRoot(root_.path(), all, own);
  }
  static std::vector<std::string> Directories(const RootParts& parts) {
    std::vector<std::string> texts;
    for (const auto& [place, mode] : parts.directories) texts.push_back(place + " " + mode);
    return texts;
  }
  static std::vector<std::string> Links(const RootParts& parts) {
    std::vector<std::string> texts;
    for (const auto& [place, target] : parts.links) texts.push_back(place + " -> " + target);
    return texts;
  }

 private:
  TemporaryDirectory root_{"caip-root-"};
};

TEST_F(RootPartsTest, AreOverlaysOfDirectoriesAndTheFilesAndLinksOfTheRoot) {
  for (const char* place : {"/usr/lib", "/opt", "/proc", "/sys", "/dev", "/tmp", "/root"}) {
    MakeDirectory(place);
  }
  MakeFile("/file");
  MakeFile("/opt/file");
  MakeLink("usr/lib", "/lib");
  const RootParts parts = Parts({"/proc", "/dev"});
  EXPECT_THAT(parts.layers, ElementsAre("/opt", "/usr"));
  EXPECT_THAT(parts.files, ElementsAre("/file"));
  EXPECT_THAT(Links(parts), ElementsAre("/lib -> usr/lib"));
  EXPECT_THAT(Directories(parts), IsEmpty());
  EXPECT_THAT(parts.bound, IsEmpty());
}

// The local command of an exploration may read its home directory.
TEST_F(RootPartsTest, HaveTheHomeDirectoryOnRequest) {
  MakeFile("/root/lib/module.py");
  MakeFile("/root/disk/file");
  MakeDirectory("/tmp/other");
  EXPECT_THAT(Parts({}).layers, IsEmpty());
  EXPECT_THAT(Parts({}, {.sees_home = true}).layers, ElementsAre("/root"));
  const RootParts split = Parts({"/root/disk"}, {{"/root/state"}, true});
  EXPECT_THAT(split.layers, ElementsAre("/root/lib"));
  EXPECT_THAT(Directories(split), ElementsAre("/root 755", "/root/disk 755"));
}

// Every container has these mounts.
TEST_F(RootPartsTest, AreAllThatADirectoryWithMountsHas) {
  for (const char* file : {"/etc/hosts", "/etc/hostname", "/etc/passwd", "/etc/ssl/openssl.cnf"}) {
    MakeFile(file);
  }
  MakeLink("/proc/mounts", "/etc/mtab");
  MakeDirectory("/etc", 0750);
  MakeFile("/usr/file");
  const RootParts parts = Parts({"/etc/hosts", "/etc/hostname"}, {{"/etc/hostname"}});
  EXPECT_THAT(Directories(parts), ElementsAre("/etc 750"));
  EXPECT_THAT(parts.layers, ElementsAre("/etc/ssl", "/usr"));
  EXPECT_THAT(parts.files, ElementsAre("/etc/passwd"));
  EXPECT_THAT(Links(parts), ElementsAre("/etc/mtab -> /proc/mounts"));
  EXPECT_THAT(parts.bound, IsEmpty());
}

TEST_F(RootPartsTest, SplitAllDirectoriesOnTheWayToAMount) {
  MakeDirectory("/var/lib/data/disk");
  MakeDirectory("/var/lib/mine/inner");
  MakeFile("/var/log/file");
  MakeDirectory("/var/tmp");
  MakeFile("/var/lib/status");
  MakeFile("/var/lib/data/file");
  MakeLink("/run", "/var/run");
  MakeLink("/run/lock", "/var/lock");
  const RootParts parts = Parts({"/var/lib/data/disk"});
  EXPECT_THAT(Directories(parts), ElementsAre("/var 755", "/var/lib 755", "/var/lib/data 755",
                                              "/var/lib/data/disk 755"));
  EXPECT_THAT(parts.layers, ElementsAre("/var/lib/mine", "/var/log"));
  EXPECT_THAT(parts.files, ElementsAre("/var/lib/data/file", "/var/lib/status"));
  EXPECT_THAT(Links(parts), ElementsAre("/var/lock -> /run/lock", "/var/run -> /run"));
}

// The kernel copies no directory of another user to the machine's disk, so an overlay is of no use.
TEST_F(RootPartsTest, HaveTheDeeperDirectoriesOfOtherUsersReadOnly) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  MakeDirectory("/var/lib/disk");
  for (const char* place : {"/var/lib/theirs", "/var/lib/mine", "/var/log"}) {
    MakeFile(std::string(place) + "/file");
  }
  for (const char* place : {"/var/lib/theirs", "/var/log"}) {
    ASSERT_EQ(::chown(OnHost(place).c_str(), kNobody, kNobody), 0);
  }
  const RootParts parts = Parts({"/var/lib/disk"});
  EXPECT_THAT(parts.layers, ElementsAre("/var/lib/mine", "/var/log"));
  EXPECT_THAT(parts.bound, ElementsAre("/var/lib/theirs"));
  EXPECT_THAT(Parts({"/var/lib/disk"}, {{"/var/lib/theirs/state"}}).bound, IsEmpty());
}

// An overlay takes longer, and lets the machine change no more.
TEST_F(RootPartsTest, SplitASmallDirectoryOfOthers) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  MakeDirectory("/opt/tools/inner");
  MakeFile("/opt/file");
  MakeLink("tools", "/opt/link");
  MakeDirectory("/links");
  MakeLink("opt", "/links/opt");
  MakeDirectory("/srv", 01777);
  MakeDirectory("/home/mine");
  MakeDirectory("/own/of-others");
  for (const char* place : {"/home/mine", "/own"}) {
    ASSERT_EQ(::chown(OnHost(place).c_str(), kNobody, kNobody), 0);
  }
  for (int i = 0; i < 17; ++i) MakeDirectory("/etc/part-" + std::to_string(i));
  ASSERT_EQ(::chmod(root().c_str(), 0755), 0);
  const AsNobody nobody;
  const RootParts parts = Parts({});
  EXPECT_THAT(Directories(parts), ElementsAre("/links 755", "/opt 755", "/srv 1777"));
  ASSERT_EQ(parts.shown.size(), 1u);
  EXPECT_EQ(parts.shown[0].directory, "/opt");
  EXPECT_THAT(parts.shown[0].directories, ElementsAre("/opt/tools"));
  EXPECT_THAT(parts.shown[0].files, ElementsAre("/opt/file"));
  EXPECT_THAT(Links(parts), ElementsAre("/links/opt -> opt", "/opt/link -> tools"));
  EXPECT_THAT(parts.layers, ElementsAre("/etc", "/home", "/own"));
  EXPECT_THAT(parts.bound, IsEmpty());
  EXPECT_THAT(parts.files, IsEmpty());
}

// It may have the rights of the owners, so that it can change their files in an overlay.
TEST_F(RootPartsTest, DoNotSplitDirectoriesForRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  MakeDirectory("/home/other");
  for (const char* place : {"/home", "/home/other"}) {
    ASSERT_EQ(::chown(OnHost(place).c_str(), kNobody, kNobody), 0);
  }
  EXPECT_THAT(Parts({}).layers, ElementsAre("/home"));
}

TEST_F(RootPartsTest, DoNotSplitADirectoryWithSomethingOfTheMachine) {
  MakeDirectory("/opt");
  EXPECT_THAT(Parts({}).layers, IsEmpty());
  EXPECT_THAT(Parts({}, {{"/opt/state"}}).layers, ElementsAre("/opt"));
  EXPECT_THAT(Parts({}, {.layers = {"/opt"}}).layers, ElementsAre("/opt"));
  EXPECT_THAT(Parts({}, {.layers = {"/opt/mine"}}).layers, ElementsAre("/opt"));
  const auto of_disk = [](const std::string& place) { return place == "/opt"; };
  EXPECT_THAT(Parts({}, {.is_on_disk = of_disk}).layers, ElementsAre("/opt"));
}

TEST_F(RootPartsTest, HaveDirectoriesThatTheUserMayNotRead) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  MakeDirectory("/lost+found", 0700);
  MakeDirectory("/drop", 01733);  // they may make files there
  ASSERT_EQ(::chmod(root().c_str(), 0755), 0);
  const AsNobody nobody;
  EXPECT_THAT(Parts({}).bound, ElementsAre("/lost+found"));
  EXPECT_THAT(Parts({}).layers, ElementsAre("/drop"));
  EXPECT_THAT(Parts({}, {{"/lost+found/state"}}).layers, ElementsAre("/drop", "/lost+found"));
}

TEST_F(RootPartsTest, DoNotSplitALargeDirectory) {
  for (int i = 0; i < 513; ++i) {
    MakeFile("/usr/lib/file-" + std::to_string(i));
    MakeFile("/etc/file-" + std::to_string(i));
  }
  MakeDirectory("/usr/lib/disk");
  MakeDirectory("/etc/disk");
  const RootParts parts = Parts({"/usr/lib/disk", "/etc/disk"});
  EXPECT_THAT(parts.bound, ElementsAre("/usr/lib"));
  EXPECT_THAT(Directories(parts), ElementsAre("/etc 755", "/etc/disk 755", "/usr 755"));
  EXPECT_EQ(parts.files.size(), 513u);
  EXPECT_THAT(Parts({"/usr/lib/disk"}, {{"/usr/lib/state"}}).bound, IsEmpty());
}

TEST_F(RootPartsTest, LackTheStateDirectory) {
  MakeFile("/home/u/state/keys/token");
  MakeFile("/home/u/state/disk/file");
  MakeFile("/home/u/notes");
  const RootParts parts = Parts({"/home/u/state/disk"}, {{"/home/u/state"}});
  EXPECT_THAT(Directories(parts), ElementsAre("/home 755", "/home/u 755"));
  EXPECT_THAT(parts.files, ElementsAre("/home/u/notes"));
  EXPECT_THAT(parts.layers, IsEmpty());
  EXPECT_THAT(parts.bound, IsEmpty());
}

TEST(OtherPlaces, AreInAllMountsOfTheFileSystem) {
  const auto mounts = ParseMounts(
      "27 1 254:0 / / rw - ext4 /dev/vda rw\n"
      "28 27 8:1 / /mnt rw - ext4 /dev/sdb rw\n"
      "29 27 8:1 /data /opt rw - ext4 /dev/sdb rw\n"  // a part that has it
      "30 27 8:1 /data/caip/state /srv/x\\040y rw - ext4 /dev/sdb rw\n"
      "31 27 8:1 /data/caip/state/deeper /srv/part rw - ext4 /dev/sdb rw\n"
      "32 27 8:1 /other /srv/other rw - ext4 /dev/sdb rw\n"
      "33 27 8:1 /dat /srv/dat rw - ext4 /dev/sdb rw\n"
      "34 27 254:0 / /sysroot rw - ext4 /dev/vda rw\n");
  EXPECT_THAT(OtherPlacesOf("/mnt/data/caip/state", mounts),
              ElementsAre("/opt/caip/state", "/srv/x y"));
  EXPECT_THAT(OtherPlacesOf("/home/me/state", mounts), ElementsAre("/sysroot/home/me/state"));
  EXPECT_THAT(OtherPlacesOf("/opt/caip/state", mounts),
              ElementsAre("/mnt/data/caip/state", "/srv/x y"));
  EXPECT_THAT(OtherPlacesOf("/sysroot/state", mounts), ElementsAre("/state"));
  EXPECT_THAT(OtherPlacesOf("/state", {}), IsEmpty());
}

TEST(IsBelow, ComparesWholeNames) {
  EXPECT_TRUE(IsBelow("/a/b", "/a"));
  EXPECT_TRUE(IsBelow("/a", "/a"));
  EXPECT_FALSE(IsBelow("/ab", "/a"));
  EXPECT_FALSE(IsBelow("/a", "/a/b"));
  EXPECT_TRUE(IsBelow("/a", "/"));
  EXPECT_TRUE(IsBelow("/", "/"));
  EXPECT_FALSE(IsBelow("", "/"));
}

TEST(StateBelow, IsInTheRootOfTheHost) {
  const TemporaryDirectory directory("caip-state-");
  const Path state = std::filesystem::canonical(directory.path());
  EXPECT_EQ(StateBelow("/", state), state.string());
  const Path link = state / "link";
  std::filesystem::create_directory_symlink("/", link);
  EXPECT_EQ(StateBelow(link, state), (link / state.relative_path()).string());
}

TEST(StateBelow, IsNowhereInADirectoryThatDoesNotExist) {
  const TemporaryDirectory parent("caip-state-");
  const Path state = parent.path() / "state";
  ASSERT_TRUE(MakeDirectories(state).ok());
  EXPECT_EQ(StateBelow(parent.path(), state), state.string());
  EXPECT_EQ(StateBelow(parent.path() / "absent", state), "");
  EXPECT_EQ(StateBelow(parent.path(), parent.path() / "absent"), "");
}

TEST(StateBelow, IsWhereThePathsSayIfLinksCannotBeFollowed) {
  const TemporaryDirectory parent("caip-state-");
  const Path loop = parent.path() / "loop";
  std::filesystem::create_symlink("loop", loop);
  EXPECT_EQ(StateBelow(parent.path(), loop / "state"), (loop / "state").string());
  EXPECT_EQ(StateBelow(loop, loop / "state"), (loop / "state").string());
  EXPECT_EQ(StateBelow(loop / "other", loop / "state"), "");
}

TEST(MountsWithOwn, HaveSomethingOfTheMachineInThem) {
  const auto mounts = ParseMounts(
      "27 1 254:0 / / rw - ext4 /dev/vda rw\n"
      "28 27 8:1 / /mnt/inner rw - ext4 /dev/sda1 rw\n"
      "29 27 8:2 / /var rw - ext4 /dev/sda2 rw\n"
      "30 29 8:3 / /var/lib/data rw - ext4 /dev/sda3 rw\n"
      "31 29 8:4 / /var/tmp rw - ext4 /dev/sda4 rw\n"
      "32 27 8:5 / /root rw - ext4 /dev/sda5 rw\n"
      "33 32 8:6 / /root/data rw - ext4 /dev/sda6 rw\n"
      "34 27 8:7 / /mnt rw - ext4 /dev/sda7 rw\n"
      "35 27 8:2 / /var rw - ext4 /dev/sda2 rw\n"
      "36 27 8:8 / /variety rw - ext4 /dev/sda8 rw\n"
      "37 27 0:8 / /etc/hostname rw - tmpfs none rw\n"
      "38 27 0:9 / /run rw - tmpfs none rw\n");
  const OwnFiles own{{"/var/tmp", "/etc/hostname", "/mnt/inner/volume", "/run/lock"}};
  EXPECT_THAT(MountsWithOwn(mounts, own), ElementsAre("/mnt", "/mnt/inner", "/var"));
  EXPECT_THAT(SharedMounts(mounts, own), ElementsAre("/var/lib/data", "/variety", "/etc/hostname"));
  EXPECT_THAT(MountsWithOwn(mounts, {{}, true}), ElementsAre("/root"));
  EXPECT_THAT(SharedMounts(mounts, {{}, true}),
              ElementsAre("/mnt/inner", "/var", "/root/data", "/mnt", "/variety", "/etc/hostname"));
}

// The kernel refuses an overlay of a directory in which something is mounted.
TEST_F(RootPartsTest, HaveMountsWithSomethingOfTheMachineLikeDirectories) {
  MakeDirectory("/var/tmp");
  MakeDirectory("/mnt/inner/disk");
  MakeFile("/mnt/inner/other/file");
  MakeFile("/mnt/more/file");
  const std::vector<HostMount> mounts = {
      {"/", "ext4"}, {"/var", "ext4"}, {"/mnt/inner", "ext4"}, {"/mnt/inner/disk", "ext4"}};
  const RootParts parts =
      PartsOfRoot(root(), mounts, {{"/var/tmp", "/mnt/inner/volume"}}, {"/var", "/mnt/inner"});
  EXPECT_THAT(parts.layers, ElementsAre("/mnt/inner/other", "/mnt/more", "/var"));
  EXPECT_THAT(Directories(parts), ElementsAre("/mnt 755", "/mnt/inner 755", "/mnt/inner/disk 755"));
  EXPECT_THAT(parts.bound, IsEmpty());
}

TEST_F(RootPartsTest, HaveAnEmptyDirectoryForRunningPrograms) {
  MakeFile("/run/secret");
  MakeDirectory("/run/lock", 01777);
  const RootParts parts = Parts({"/run"});
  EXPECT_THAT(Directories(parts), ElementsAre("/run 755", "/run/lock 1777"));
  EXPECT_THAT(parts.files, IsEmpty());
}

TEST(SharedMounts, AreTheFileSystemsOfPeople) {
  const auto mounts = ParseMounts(
      "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
      "24 27 0:6 / /dev rw - devtmpfs devtmpfs rw\n"
      "25 24 0:23 / /dev/shm rw - tmpfs tmpfs rw\n"
      "27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
      "28 27 8:1 / /home rw - ext4 /dev/sdb rw\n"
      "29 28 8:2 / /home/data rw - xfs /dev/sdc rw\n"
      "30 27 0:30 / /run rw - tmpfs tmpfs rw\n"
      "31 27 0:31 / /tmp rw - tmpfs tmpfs rw\n"
      "32 27 0:32 / /mnt/my\\040disk rw - nfs4 server:/x rw\n"
      "33 27 0:33 / /usr/local/nvidia ro - squashfs /dev/loop1 ro\n"
      "34 27 0:34 / /scratch rw - lustre server:/y rw\n"
      "35 27 0:35 / /mnt/bucket rw - fuse.gcsfuse bucket rw\n"
      "36 27 0:36 / /net rw - autofs systemd-1 rw\n"
      "37 27 0:37 / /mnt/huge rw - hugetlbfs hugetlbfs rw\n");
  EXPECT_THAT(SharedMounts(mounts),
              ElementsAre("/home", "/mnt/my disk", "/usr/local/nvidia", "/scratch", "/mnt/bucket"));
}

}  // namespace
}  // namespace caip::host
