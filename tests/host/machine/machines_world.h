#pragma once
// What tests of machines share: replicas on machines, and the listeners of their network.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "host/machine/machines.h"
#include "tests/host/launch_world.h"

namespace caip::host {

/// A world whose replicas have machines in a network with an endpoint at 169.254.169.254:80.
class Machines : public ::testing::Test {
 protected:
  Machines() {
    world_.launcher->SetEndpointHandler([this](const std::string& tag, Fd listening) {
      const std::lock_guard lock(mutex_);
      endpoints_.emplace_back(tag, std::move(listening));
      changed_.notify_all();
    });
  }

  void SetUp() override {
    if (const auto why_not = TryMachine(LauncherProgram())) {
      GTEST_SKIP() << "replicas cannot have machines here: " << *why_not;
    }
  }

  engine::ReplicaLaunch OnMachine(const std::string& script, engine::ReplicaKey key = AKey()) {
    auto launch = AShell(script, std::move(key));
    launch.machine.host_name = "cmle-training-" + run::Name(launch.key.replica);
    const std::string address = "10.128.0." + std::to_string(2 + launch.key.replica.index);
    launch.isolation =
        engine::ReplicaIsolation{network_, address, "127.0.0.1 localhost\n9.8.7.6 served\n"};
    return launch;
  }
  engine::ReplicaLaunch APython(const std::string& source, engine::ReplicaKey key = AKey()) {
    auto launch = OnMachine("", std::move(key));
    launch.program = run::LocalCommand{{"python3", "-c", source}};
    return launch;
  }

  /// Accepts at the first endpoint; answers the connection and the client's address.
  std::pair<Fd, std::string> Accept() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(30), [&] {
      return !endpoints_.empty();
    })) << "awaited an endpoint";
    if (endpoints_.empty()) return {};
    sockaddr_in from{};
    socklen_t size = sizeof from;
    Fd fd(::accept4(endpoints_.front().second.get(), reinterpret_cast<sockaddr*>(&from), &size,
                    SOCK_CLOEXEC));
    char address[INET_ADDRSTRLEN] = {};
    ::inet_ntop(AF_INET, &from.sin_addr, address, sizeof address);
    return {std::move(fd), std::string(address) + ":" + std::to_string(ntohs(from.sin_port))};
  }
  /// A replica that is a process of the host finds caip-launcher above its init.
  void KillLauncher() {
    world_.Run(AShell("awk '{print $4}' /proc/$PPID/stat", AKey(9)));
    ::kill(std::stoi(world_.sink.Messages().back()), SIGKILL);
  }
  static pid_t FindNat() { return FindHelper("caip-nat"); }
  /// The child of this test's launcher that has this name; 0: there is none.
  static pid_t FindHelper(const std::string& wanted) {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const auto name = ReadFile(entry.path() / "comm");
      if (!name.ok() || *name != wanted + "\n") continue;
      const auto [state, launcher] = StateAndParent(entry.path().filename());
      if (state == 'Z' || StateAndParent(std::to_string(launcher)).second != ::getpid()) continue;
      return std::stoi(entry.path().filename());
    }
    return 0;
  }
  size_t EndpointCount() {
    const std::lock_guard lock(mutex_);
    return endpoints_.size();
  }

  std::shared_ptr<const engine::RunNetwork> network_ = std::make_shared<engine::RunNetwork>(
      engine::RunNetwork{{{"169.254.169.254", 80, "metadata"}}});
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::pair<std::string, Fd>> endpoints_;
  LaunchWorld world_;  // last: it calls us until it is gone
};

}  // namespace caip::host
