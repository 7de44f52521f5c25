#pragma once
// What tests of the files of machines share: replicas on machines with a root of their own.

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/machine/machines.h"
#include "tests/host/launch_world.h"

namespace caip::host {

/// A world whose replicas have machines, each with a boot disk.
class MachineFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto why_not = TryMachine(LauncherProgram(), State())) {
      GTEST_SKIP() << "replicas cannot have machines here: " << *why_not;
    }
  }

  engine::ReplicaLaunch OnMachine(const std::string& script, engine::ReplicaKey key = AKey()) {
    auto launch = AShell(script, std::move(key));
    launch.machine.host_name = "host-" + std::to_string(launch.key.replica.index);
    launch.user_directories = {"root", "tmp", "var/hypertune"};
    launch.isolation = engine::ReplicaIsolation{
        network_, "10.128.0." + std::to_string(2 + launch.key.replica.index),
        "127.0.0.1 localhost\n"};
    return launch;
  }
  std::vector<std::string> Output(engine::ReplicaLaunch launch) {
    const size_t before = world_.sink.Messages().size();
    const auto exit = world_.Run(std::move(launch));
    EXPECT_EQ(exit.start_error, "");
    auto messages = world_.sink.Messages();
    return {messages.begin() + static_cast<std::ptrdiff_t>(before), messages.end()};
  }
  Path State() const { return world_.state.path(); }

  std::shared_ptr<const engine::RunNetwork> network_ = std::make_shared<engine::RunNetwork>();
  LaunchWorld world_{{}, Interposition::Kind::kSeccomp, /*own_roots=*/true};
};

}  // namespace caip::host
