#include "host/machine/closed_directories.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <filesystem>

#include "base/files.h"

namespace caip::host {
namespace {

constexpr char kPathOfState[] = "/home/me/state";

/// An image of two layers. Its files belong to the user of this process.
class ClosedDirectories : public ::testing::Test {
 protected:
  ClosedDirectories() {
    image_.layers = {base_.path().string(), top_.path().string()};
    image_.user = ::geteuid() + 1;
    image_.group = ::getegid() + 1;
  }
  void Make(const TemporaryDirectory& layer, const std::string& directory, mode_t mode) {
    ASSERT_TRUE(MakeDirectories(layer.path() / directory).ok());
    ASSERT_EQ(::chmod((layer.path() / directory).c_str(), mode), 0);
  }
  std::string Found() const { return FindClosedDirectory(image_, kPathOfState); }
  engine::ReplicaLaunch OnImage() const {
    engine::ReplicaLaunch launch;
    launch.working_directory = "/app";
    launch.image = std::make_shared<engine::PreparedImage>(image_);
    return launch;
  }

  TemporaryDirectory base_{"caip-layer-"};
  TemporaryDirectory top_{"caip-layer-"};
  engine::PreparedImage image_;
};

TEST_F(ClosedDirectories, AreTheHighestThatTheUserMayNotSearch) {
  EXPECT_EQ(Found(), "") << "what the image lacks is made for all users";
  Make(base_, "home/me/state", 0700);
  EXPECT_EQ(Found(), "") << "only what is above counts";
  Make(base_, "home/me", 0700);
  EXPECT_EQ(Found(), "/home/me");
  Make(base_, "home", 0744);
  EXPECT_EQ(Found(), "/home") << "others may read, but not search";
}

TEST_F(ClosedDirectories, AreThoseOfTheHighestLayer) {
  Make(base_, "home", 0700);
  Make(top_, "home", 0755);
  EXPECT_EQ(Found(), "");
  Make(top_, "home", 0700);
  EXPECT_EQ(Found(), "/home");
}

TEST_F(ClosedDirectories, AreNotThoseThatAHigherLayerHides) {
  Make(base_, "home/me", 0700);
  Make(top_, "home", 0755);
  EXPECT_EQ(Found(), "/home/me");
  const Path home = top_.path() / "home";
  if (::setxattr(home.c_str(), "user.overlay.opaque", "y", 1, 0) != 0 &&
      ::setxattr(home.c_str(), "trusted.overlay.opaque", "y", 1, 0) != 0) {
    GTEST_SKIP() << "this file system has no such attributes";
  }
  EXPECT_EQ(Found(), "");
}

// A link of a layer would lead this process to a directory of the host.
TEST_F(ClosedDirectories, AreNoneOfTheHost) {
  const TemporaryDirectory host;
  Make(host, "me", 0700);
  std::filesystem::create_directory_symlink(host.path(), base_.path() / "home");
  EXPECT_EQ(Found(), "") << "a link is not a directory";
  Make(top_, "home", 0755);
  EXPECT_EQ(Found(), "");
}

TEST_F(ClosedDirectories, DependOnTheUserAndItsGroups) {
  Make(base_, "home", 0710);
  EXPECT_EQ(Found(), "/home");
  image_.groups = {::getegid()};
  EXPECT_EQ(Found(), "");
  image_.groups = {};
  image_.group = ::getegid();
  EXPECT_EQ(Found(), "");
  Make(base_, "home", 0601);
  EXPECT_EQ(Found(), "/home") << "the rights of others are not those of the group";
  image_.user = 0;
  EXPECT_EQ(Found(), "");
}

TEST_F(ClosedDirectories, GetAnEmptyOneInTheirPlace) {
  Make(base_, "home", 0700);
  launcher::Machine machine;
  machine.mounts = {{launcher::MountKind::kDirectory, "", "/home"}};  // unless the image has it
  OpenWayTo(kPathOfState, OnImage(), machine);
  ASSERT_EQ(machine.mounts.size(), 2u);
  EXPECT_EQ(machine.mounts.back().source, "tmpfs");
  EXPECT_EQ(machine.mounts.back().target, "/home");
}

TEST_F(ClosedDirectories, StayWhereNothingWouldBeGained) {
  Make(base_, "home", 0700);
  launcher::Machine machine;
  engine::ReplicaLaunch launch = OnImage();
  launch.working_directory = "/home/work";
  OpenWayTo(kPathOfState, launch, machine);
  EXPECT_TRUE(machine.mounts.empty()) << "the replica begins below it";
  machine.maps_user = true;
  OpenWayTo(kPathOfState, OnImage(), machine);
  EXPECT_TRUE(machine.mounts.empty()) << "the user owns it";
  machine.maps_user = false;
  OpenWayTo(kPathOfState, engine::ReplicaLaunch{}, machine);
  EXPECT_TRUE(machine.mounts.empty()) << "it runs no image";
  machine.mounts = {{launcher::MountKind::kBind, "/srv/home", "/home"}};
  OpenWayTo(kPathOfState, OnImage(), machine);
  EXPECT_EQ(machine.mounts.size(), 1u) << "a volume is in its place";
}

}  // namespace
}  // namespace caip::host
