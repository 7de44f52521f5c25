// Machines that are made before the launches of their replicas.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/machine/machines.h"
#include "tests/host/launch_world.h"

namespace caip::host {
namespace {

using ::testing::ElementsAre;

class MachinesAhead : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto why_not = TryMachine(LauncherProgram(), world_.state.path())) {
      GTEST_SKIP() << "replicas cannot have machines here: " << *why_not;
    }
  }
  void MakeAhead() { world_.launcher->MakeAhead(AKey().run, network_, {"10.128.0.2"}); }
  // Prints the index of the hub's end of the machine's link, which counts the links from 3001 on.
  void RunBoot(int boot) {
    engine::ReplicaKey key = AKey();
    key.boot = boot;
    auto launch = AShell("cat /sys/class/net/eth0/iflink", key);
    launch.isolation = engine::ReplicaIsolation{network_, "10.128.0.2", "127.0.0.1 localhost\n"};
    world_.Run(std::move(launch));
  }

  std::shared_ptr<const engine::RunNetwork> network_ = std::make_shared<engine::RunNetwork>();
  LaunchWorld world_{{}, Interposition::Kind::kSeccomp, true};
};

TEST_F(MachinesAhead, AreUsedByTheNextLaunch) {
  MakeAhead();
  RunBoot(1);
  RunBoot(2);  // a new machine, as always
  EXPECT_THAT(world_.sink.Messages(), ElementsAre("3001", "3002"));
}

TEST_F(MachinesAhead, AreNewWhereTheRunHadOthers) {
  RunBoot(1);
  MakeAhead();
  RunBoot(2);
  EXPECT_THAT(world_.sink.Messages(), ElementsAre("3001", "3002"));
}

TEST_F(MachinesAhead, GoWithARunThatLaunchesNothing) {
  MakeAhead();
  MakeAhead();
  world_.launcher->Discard(AKey().run);
  RunBoot(1);
  EXPECT_THAT(world_.sink.Messages(), ElementsAre("3001"));
}

}  // namespace
}  // namespace caip::host
