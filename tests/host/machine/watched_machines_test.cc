// Watched replicas on machines.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "tests/host/machine/machines_world.h"

namespace caip::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Lets everything go on, and counts.
class CountingWatcher final : public ReplicaWatcher {
 public:
  Answer OutputSeen(const engine::ReplicaKey&) override {
    ++outputs;
    return Answer::kGoOn;
  }
  Verdict Before(const engine::ReplicaKey&, const FileOperation&) override { return {}; }
  Verdict After(const engine::ReplicaKey&, const FileOperation&, int) override { return {}; }
  void Gone(const engine::ReplicaKey&) override {}
  std::atomic<int> outputs = 0;
};

class WatchedMachines : public Machines {
 protected:
  engine::ReplicaExit RunWatched(Interposition::Kind interposition) {
    return RunWatched(interposition, OnMachine("echo one; echo two"));
  }
  engine::ReplicaExit RunWatched(Interposition::Kind interposition, engine::ReplicaLaunch launch) {
    LaunchWorld world({}, interposition);
    world.launcher->Watch({.output = true}, watcher_);
    const auto exit = world.Run(std::move(launch));
    messages_ = world.sink.Messages();
    return exit;
  }
  CountingWatcher watcher_;
  std::vector<std::string> messages_;
};

TEST_F(WatchedMachines, WaitsAtItsCallsAsAnyOther) {
  if (InterpositionOf().kind != Interposition::Kind::kSeccomp) {
    GTEST_SKIP() << "no seccomp notification: " << InterpositionOf().reason;
  }
  EXPECT_EQ(RunWatched(Interposition::Kind::kSeccomp).start_error, "");
  EXPECT_THAT(messages_, ElementsAre("one", "two"));
  EXPECT_EQ(watcher_.outputs, 2);
}

// The network and the processes of a machine are its own.
TEST_F(WatchedMachines, WaitsAtItsCallsWhereALibraryHoldsThem) {
  EXPECT_EQ(RunWatched(Interposition::Kind::kPreload).start_error, "");
  EXPECT_THAT(messages_, ElementsAre("one", "two"));
  EXPECT_EQ(watcher_.outputs, 2);
}

TEST_F(WatchedMachines, WaitsAtTheCallsOfItsThreadsWhereALibraryHoldsThem) {
  engine::ReplicaLaunch launch = OnMachine("");
  launch.program = run::LocalCommand{
      {"python3", "-c",
       "import os, threading\nthread = threading.Thread(target=lambda: os.write(1, b'one\\n'))\n"
       "thread.start(); thread.join(); os.write(1, b'two\\n')"}};
  EXPECT_EQ(RunWatched(Interposition::Kind::kPreload, std::move(launch)).start_error, "");
  EXPECT_THAT(messages_, ElementsAre("one", "two"));
  EXPECT_EQ(watcher_.outputs, 2);
}

TEST_F(WatchedMachines, OfImagesAreRefusedWhereALibraryHoldsCalls) {
  engine::ReplicaLaunch launch = OnMachine("echo one");
  launch.image = std::make_shared<const engine::PreparedImage>();
  EXPECT_THAT(RunWatched(Interposition::Kind::kPreload, std::move(launch)).start_error,
              HasSubstr("The programs of an image are watched by seccomp notification only"));
}

}  // namespace
}  // namespace caip::host
