// Boot disks of which something cannot be deleted: a mount stands in for a disk that is read-only.

#include "host/machine/boot_disks.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <vector>

#include "host/machine/machine_files.h"
#include "tests/host/launch_world.h"

namespace caip::host {
namespace {

constexpr int kNoNamespaces = 77;

class HeldDisks : public ::testing::Test {
 protected:
  /// The error of `act`, which runs in a process in which nothing can be deleted at `held`.
  std::string ErrorWith(const std::vector<Path>& held, const std::function<Status()>& act) {
    const Path answer = state_.path() / "answer";
    const pid_t child = ::fork();
    if (child == 0) {
      if (!Hold(held)) ::_exit(kNoNamespaces);
      const Status status = act();
      (void)WriteFile(answer, status.ok() ? "" : status.error().message);
      ::_exit(0);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    has_namespaces_ = WEXITSTATUS(status) != kNoNamespaces;
    const Result<std::string> text = ReadFile(answer);
    return text.ok() ? *text : "no answer";
  }

  Status Prepared(const Path& disk, const engine::ReplicaLaunch& launch) const {
    RETURN_IF_ERROR(MachineFiles(state_.path()).Prepare(disk, launch));
    return Ok{};
  }

  static bool Hold(const std::vector<Path>& held) {
    const int user = ::geteuid() == 0 ? 0 : CLONE_NEWUSER;
    bool holds = ::unshare(CLONE_NEWNS | user) == 0 &&
                 ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
    for (const Path& place : held) {
      holds = holds && MakeDirectories(place).ok() &&
              ::mount(place.c_str(), place.c_str(), nullptr, MS_BIND, nullptr) == 0;
    }
    return holds;
  }

  static std::string CannotRemove(const Path& place) {
    return "cannot remove '" + place.string() + "': Device or resource busy";
  }

  TemporaryDirectory state_{"caip-disks-"};
  bool has_namespaces_ = true;
};

TEST_F(HeldDisks, AreNotGivenToAReplicaThatShallHaveAFreshOne) {
  const Path disk = BootDisks(state_.path()).Of(AKey());
  const std::string error = ErrorWith({disk, disk / "work"}, [this] {
    return BootDisks(state_.path()).Make(AKey(), /*fresh=*/true);
  });
  if (!has_namespaces_) GTEST_SKIP() << "no mount namespaces here";
  EXPECT_EQ(error, CannotRemove(disk));
}

TEST_F(HeldDisks, MayStayIfNothingIsLeftInThem) {
  const Path disk = BootDisks(state_.path()).Of(AKey());
  ASSERT_TRUE(MakeDirectories(disk / "changes").ok());
  const std::string error =
      ErrorWith({disk}, [this] { return BootDisks(state_.path()).Make(AKey(), /*fresh=*/true); });
  if (!has_namespaces_) GTEST_SKIP() << "no mount namespaces here";
  EXPECT_EQ(error, "");
}

// The kernel refuses a working directory that an earlier machine had (MountOverlay), with words
// about the file system that would mislead.
TEST_F(HeldDisks, FailWithTheReasonWhenAMachineShallHaveThemAgain) {
  const Path disk = state_.path() / "disk";
  ASSERT_TRUE(MakeDirectories(disk / "changes").ok());
  const std::string error =
      ErrorWith({disk / "work"}, [&] { return Prepared(disk, AShell("true")); });
  if (!has_namespaces_) GTEST_SKIP() << "no mount namespaces here";
  EXPECT_EQ(error, CannotRemove(disk / "work"));
}

TEST_F(HeldDisks, FailWithTheReasonWhenAVolumeIsCopiedOnWriteAgain) {
  const Path disk = state_.path() / "disk";
  engine::ReplicaLaunch launch = AShell("true");
  launch.volumes = {{"/srv", "/srv", engine::Volume::Use::kCopyOnWrite}};
  const Path work = disk / "volumes" / "srv" / "work";
  const std::string error = ErrorWith({work}, [&] { return Prepared(disk, launch); });
  if (!has_namespaces_) GTEST_SKIP() << "no mount namespaces here";
  EXPECT_EQ(error, CannotRemove(work));
}

}  // namespace
}  // namespace caip::host
