// A replica that is stopped in mid-step, as a machine that hangs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <future>

#include "host/process/orphans.h"
#include "tests/host/launch_world.h"

namespace caip::host {
namespace {

using ::testing::IsEmpty;

class FrozenReplica : public ::testing::Test {
 protected:
  /// The state letters of its processes, as ps shows them.
  std::string States() const {
    std::string states;
    for (const pid_t pid : FindReplicas(StateId(world.state.path()))) {
      const auto stat = ReadFile("/proc/" + std::to_string(pid) + "/stat");
      if (stat.ok()) states += (*stat)[stat->rfind(')') + 2];
    }
    return states;
  }
  void Freeze(const engine::ReplicaKey& key = AKey()) {
    std::promise<void> frozen;
    world.launcher->Freeze(key, [&frozen] { frozen.set_value(); });
    frozen.get_future().get();
  }
  LaunchWorld world;
};

TEST_F(FrozenReplica, IsStoppedWithItsWholeTreeAndGoesOnWhenThawed) {
  world.Launch(
      AShell("(setsid sh -c 'echo daemon; while :; do :; done' &)\n"
             "sh -c 'trap \"echo signaled; exit 0\" TERM; echo child; while :; do :; done' &\n"
             "trap : TERM; echo ready; wait; wait; exit 3"));
  for (const char* who : {"daemon", "child", "ready"}) ASSERT_TRUE(world.sink.AwaitMessage(who));
  for (int round = 0; round < 3; ++round) {
    Freeze();
    EXPECT_EQ(States(), "TTT");
    world.launcher->Thaw(AKey());
  }
  world.launcher->Signal(AKey(), SIGTERM);
  ASSERT_TRUE(world.sink.AwaitMessage("signaled"));
  EXPECT_EQ(world.AwaitExits(1).back().exit_code, 3);
}

TEST_F(FrozenReplica, HearsSignalsOnlyWhenThawed) {
  world.Launch(AShell("trap 'echo signaled; exit 4' TERM; echo ready; while :; do :; done"));
  ASSERT_TRUE(world.sink.AwaitMessage("ready"));
  Freeze();
  world.launcher->Signal(AKey(), SIGTERM);
  Freeze();  // orders are obeyed one after the other: the signal was sent
  EXPECT_EQ(States(), "T");
  world.launcher->Thaw(AKey());
  EXPECT_EQ(world.AwaitExits(1).back().exit_code, 4);
}

TEST_F(FrozenReplica, CanBeKilled) {
  world.Launch(AShell("(setsid sh -c 'while :; do :; done' &) ; echo ready; exec sleep 1000"));
  ASSERT_TRUE(world.sink.AwaitMessage("ready"));
  Freeze();
  world.launcher->Kill(AKey());
  Freeze();  // of one that ends: answered all the same
  EXPECT_EQ(world.AwaitExits(1).back().signal, SIGKILL);
  EXPECT_THAT(FindReplicas(StateId(world.state.path())), IsEmpty());
  Freeze();  // and of one that is gone
}

TEST_F(FrozenReplica, DiesWithItsLauncher) {
  world.Launch(AShell("echo ready; exec sleep 1000"));
  ASSERT_TRUE(world.sink.AwaitMessage("ready"));
  Freeze();
  world.launcher.reset();
  EXPECT_THAT(FindReplicas(StateId(world.state.path())), IsEmpty());
}

}  // namespace
}  // namespace caip::host
