#pragma once
// The base of launchers that add something to another launcher.

#include <memory>
#include <utility>

#include "engine/ports.h"

namespace caip::host {

/// Owns another launcher and hands every call on to it. A decorator overrides what it changes.
class ForwardingLauncher : public engine::Launcher {
 public:
  explicit ForwardingLauncher(std::unique_ptr<engine::Launcher> inner) : inner_(std::move(inner)) {}

  Result<run::Program> Resolve(const run::Program& program) const override {
    return inner_->Resolve(program);
  }
  void Launch(engine::ReplicaLaunch launch, Listener listener) override {
    inner_->Launch(std::move(launch), std::move(listener));
  }
  void Signal(const engine::ReplicaKey& key, int signal) override { inner_->Signal(key, signal); }
  void Kill(const engine::ReplicaKey& key) override { inner_->Kill(key); }
  void Discard(const engine::RunKey& run) override { inner_->Discard(run); }

 protected:
  engine::Launcher& inner() { return *inner_; }

 private:
  std::unique_ptr<engine::Launcher> inner_;
};

}  // namespace caip::host
