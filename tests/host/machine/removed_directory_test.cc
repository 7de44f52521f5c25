// A directory of the host that is removed before a machine with an overlay of it starts.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <future>

#include "host/machine/layered_root.h"
#include "host/machine/machine_files.h"
#include "host/machine/machines.h"
#include "host/machine/overlays.h"
#include "host/process/launcher_link.h"
#include "tests/host/launch_world.h"

namespace caip::host {
namespace {

/// Starts machines whose root has an overlay of a directory of the host.
class RemovedDirectory : public ::testing::Test {
 protected:
  void SetUp() override {
    const engine::ReplicaLaunch launch;
    const auto host = files_.Prepare(disk_, launch);
    ASSERT_TRUE(host.ok());
    machine_.mounts = BaseMounts();
    files_.AddTo(machine_, disk_, *host, launch);
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
