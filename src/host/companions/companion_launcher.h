#pragma once
// A launcher whose replicas know the companions: it holds them until those serve.

#include <functional>
#include <memory>

#include "engine/ports.h"
#include "host/companions/companions.h"

namespace caip::host {

/// Engine's thread, as every Launcher. What it is given outlives it.
class CompanionLauncher final : public engine::Launcher {
 public:
  /// `inner` is called from the companions' thread, too, but never from two at once.
  CompanionLauncher(engine::Launcher& inner, CompanionOptions options, engine::LogSink& log,
                    const Clock& clock);
  ~CompanionLauncher() override;  // ends the companions

  Result<run::Program> Resolve(const run::Program& program) const override;
  std::string BootDisk(const engine::ReplicaKey& key) const override;
  void Launch(engine::ReplicaLaunch launch, Listener listener) override;
  void Signal(const engine::ReplicaKey& key, int signal) override;
  void Kill(const engine::ReplicaKey& key) override;
  void Freeze(const engine::ReplicaKey& key, std::function<void()> frozen) override;
  void Thaw(const engine::ReplicaKey& key) override;
  void Discard(const engine::RunKey& run) override;

 private:
  class Body;
  std::unique_ptr<Body> body_;
};

}  // namespace caip::host
