// A replica that is stopped in mid-step, as a machine that hangs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <string>
#include <thread>

#include "host/process/orphans.h"
#include "tests/host/launch_world.h"

namespace caip::host {
namespace {

using ::testing::Contains;
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
  /// Whether so many of its processes are stopped, at the latest after some time.
  bool AwaitStopped(ptrdiff_t count) const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    std::string states = States();
    while (std::count(states.begin(), states.end(), 'T') != count) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      states = States();
    }
    return true;
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

// The leader looks at the state of its child, and continues it itself.
TEST_F(FrozenReplica, LeavesStoppedWhatHadStoppedItself) {
  world.Launch(
      AShell("sh -c 'trap \"\" TERM; echo child; kill -STOP $$; echo continued' & child=$!\n"
             "trap 'set -- $(cat /proc/$child/stat); echo state $3;"
             " kill -CONT $child; wait $child; exit 5' TERM\n"
             "echo ready; while :; do :; done"));
  for (const char* who : {"child", "ready"}) ASSERT_TRUE(world.sink.AwaitMessage(who));
  ASSERT_TRUE(AwaitStopped(1)) << States();
  for (int round = 0; round < 3; ++round) {
    Freeze();
    Freeze();  // a second fault
    EXPECT_EQ(States(), "TT");
    world.launcher->Thaw(AKey());
  }
  world.launcher->Signal(AKey(), SIGTERM);
  EXPECT_EQ(world.AwaitExits(1).back().exit_code, 5);
  EXPECT_THAT(world.sink.Messages(), Contains("state T"));
  EXPECT_THAT(world.sink.Messages(), Contains("continued"));
}

TEST_F(FrozenReplica, LeavesStoppedWhatAnotherProcessStopsMeanwhile) {
  world.Launch(
      AShell("sh -c 'trap \"\" TERM; echo child; while :; do :; done' & child=$!\n"
             "trap 'set -- $(cat /proc/$child/stat); echo state $3; kill -9 $child; exit 5' TERM\n"
             "echo child is $child; while :; do :; done"));
  for (const char* what : {"child is", "child"}) ASSERT_TRUE(world.sink.AwaitMessage(what));
  pid_t child = 0;
  for (const std::string& message : world.sink.Messages()) {
    if (message.starts_with("child is ")) child = std::stoi(message.substr(9));
  }
  ASSERT_GT(child, 0);
  Freeze();
  ASSERT_EQ(States(), "TT");
  ASSERT_EQ(::kill(child, SIGSTOP), 0);
  world.launcher->Thaw(AKey());
  world.launcher->Signal(AKey(), SIGTERM);
  EXPECT_EQ(world.AwaitExits(1).back().exit_code, 5);
  EXPECT_THAT(world.sink.Messages(), Contains("state T"));
}

// It waits for its child in a call that no signal interrupts. Its child waits for a writer of a
// pipe with a name.
constexpr char kStopsLater[] = R"py(
import os, signal, sys
reading = (os.POSIX_SPAWN_OPEN, 5, 'fifo', os.O_RDONLY, 0)
open('spawns', 'w').close()
os.posix_spawn('/bin/true', ['true'], {}, file_actions=[reading])
print('continued', flush=True)
)py";

TEST_F(FrozenReplica, LeavesToStopWhatAnotherProcessHasSentAStopSignal) {
  auto launch = AShell(
      "mkfifo fifo; python3 -c \"$SCRIPT\" & parent=$!\n"
      "state() { cut -d' ' -f3 /proc/$parent/stat; }\n"
      "trap ': > fifo; while s=$(state); [ $s != T ] && [ $s != Z ]; do :; done;"
      " echo state $s; kill -9 $parent; exit 5' TERM\n"
      "until [ -e spawns ] && [ $(state) = D ]; do :; done; kill -STOP $parent\n"
      "echo ready; while :; do :; done");
  launch.environment.emplace_back("SCRIPT", kStopsLater);
  world.Launch(std::move(launch));
  ASSERT_TRUE(world.sink.AwaitMessage("ready"));
  Freeze();
  world.launcher->Thaw(AKey());
  world.launcher->Signal(AKey(), SIGTERM);
  EXPECT_EQ(world.AwaitExits(1).back().exit_code, 5);
  EXPECT_THAT(world.sink.Messages(), Contains("state T"));
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
