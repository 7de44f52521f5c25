#pragma once
// A launcher whose replicas are the test itself.

#include <utility>
#include <vector>

#include "engine/ports.h"

namespace caip::host {

/// Keeps the launches and their listeners. The test calls the listeners.
class HandLauncher final : public engine::Launcher {
 public:
  Result<run::Program> Resolve(const run::Program& program) const override { return program; }
  void Launch(engine::ReplicaLaunch launch, Listener listener) override {
    launches.push_back(std::move(launch));
    listeners.push_back(std::move(listener));
  }
  void Signal(const engine::ReplicaKey&, int) override {}
  void Kill(const engine::ReplicaKey&) override {}
  void Discard(const engine::RunKey&) override {}

  std::vector<engine::ReplicaLaunch> launches;
  std::vector<Listener> listeners;
};

inline engine::ReplicaExit ExitOfHand(const engine::ReplicaKey& key) {
  engine::ReplicaExit exit;
  exit.key = key;
  return exit;
}

}  // namespace caip::host
