// Which failures of replicas may be those of a host whose port 2222 is taken.

#include "emulator/scenario/watch/launch_watch.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/harness/fault_injector_world.h"

namespace caip::scenario {
namespace {

/// Ends each replica at once, with that exit status.
class EndsAtOnce final : public engine::Launcher {
 public:
  explicit EndsAtOnce(int status) : status_(status) {}
  Result<run::Program> Resolve(const run::Program& program) const override { return program; }
  void Launch(engine::ReplicaLaunch launch, Listener listener) override {
    engine::ReplicaExit exit;
    exit.key = launch.key;
    exit.exit_code = status_;
    listener.on_exit(exit);
  }
  void Signal(const engine::ReplicaKey&, int) override {}
  void Kill(const engine::ReplicaKey&) override {}
  void Discard(const engine::RunKey&) override {}

 private:
  const int status_;
};

class NoDisks final : public engine::LocalDisks {
 public:
  std::string BootDisk(const engine::ReplicaKey&) const override { return ""; }
};

/// A replica whose job has replicas at these hosts.
engine::ReplicaLaunch LaunchAmong(const std::vector<std::string>& hosts) {
  engine::ReplicaLaunch launch;
  launch.key = {{"p", "j", ""}, {"master", 0}, 1};
  for (const std::string& host : hosts) {
    launch.machine.peers.push_back({launch.key.replica, "cmle-training-master-0", host});
  }
  return launch;
}

/// What the launcher reports of replicas that end with that status: whether they have peers.
std::vector<bool> FailuresOf(engine::ReplicaLaunch launch, int status) {
  harness::StillClock clock;
  harness::FaultInjector injector({}, clock);
  harness::FakeRun run;
  injector.Attach(run);
  NoDisks disks;
  std::vector<bool> failures;
  LaunchHooks hooks;
  hooks.replica_failed = [&failures](bool has_peers) { failures.push_back(has_peers); };
  WatchedLauncher launcher(std::make_unique<EndsAtOnce>(status), disks, injector, hooks);
  launcher.Launch(std::move(launch), {[](const auto&) {}, [](const auto&) {}});
  injector.End();
  return failures;
}

using Failures = std::vector<bool>;

TEST(TaskPorts, AreThoseOfReplicasWithLoopbackAddresses) {
  EXPECT_EQ(FailuresOf(LaunchAmong({"127.3.4.2"}), 1), Failures{false});
  EXPECT_EQ(FailuresOf(LaunchAmong({"127.3.4.2", "127.3.4.3"}), 1), Failures{true});
  EXPECT_EQ(FailuresOf(LaunchAmong({"10.128.0.2"}), 1), Failures{}) << "a machine";
  EXPECT_EQ(FailuresOf(LaunchAmong({"localhost"}), 1), Failures{}) << "addressing: ports";
  EXPECT_EQ(FailuresOf(LaunchAmong({}), 1), Failures{});
}

TEST(TaskPorts, OfTrialsMayBeTakenByOtherTrials) {
  engine::ReplicaLaunch launch = LaunchAmong({"127.3.4.2"});
  launch.key.run.trial = "2";
  EXPECT_EQ(FailuresOf(std::move(launch), 1), Failures{true});
}

TEST(TaskPorts, DoNotMatterToReplicasThatSucceed) {
  EXPECT_EQ(FailuresOf(LaunchAmong({"127.3.4.2"}), 0), Failures{});
}

}  // namespace
}  // namespace caip::scenario
