#pragma once
// A launcher whose every start and end is told to the director, and which keeps down what is to
// stay down.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "emulator/scenario/fake_clocks.h"
#include "emulator/scenario/onlooker.h"
#include "engine/ports.h"
#include "harness/faults/fault_injector.h"

namespace caip::scenario {

/// Alters a launch, last of all.
using Dresser = std::function<void(engine::ReplicaLaunch&, const std::string& boot_disk)>;

/// Who else has to do with launches; all may be null.
struct LaunchCompany {
  FakeClocks* clocks = nullptr;  // where replicas get their time
  Dresser dress = nullptr;
  Onlooker* onlooker = nullptr;
};

/// `inner` and `director` outlive it.
class WatchedLauncher final : public engine::Launcher {
 public:
  /// `watch`: what every replica is stopped at.
  WatchedLauncher(engine::Launcher& inner, harness::Director& director, engine::ReplicaWatch watch,
                  LaunchCompany company)
      : inner_(inner),
        director_(director),
        watch_(std::move(watch)),
        company_(std::move(company)) {}

  Result<run::Program> Resolve(const run::Program& program) const override {
    return inner_.Resolve(program);
  }
  std::string BootDisk(const engine::ReplicaKey& key) const override {
    return inner_.BootDisk(key);
  }
  void Launch(engine::ReplicaLaunch launch, Listener listener) override;
  void Signal(const engine::ReplicaKey& key, int signal) override { inner_.Signal(key, signal); }
  void Kill(const engine::ReplicaKey& key) override { inner_.Kill(key); }
  void Freeze(const engine::ReplicaKey& key, std::function<void()> frozen) override {
    inner_.Freeze(key, std::move(frozen));
  }
  void Thaw(const engine::ReplicaKey& key) override { inner_.Thaw(key); }
  void Discard(const engine::RunKey& run) override { inner_.Discard(run); }

  /// The boot that was launched last; nullopt before the first.
  std::optional<engine::ReplicaKey> LastBoot(const std::string& replica) const;

 private:
  engine::Launcher& inner_;
  harness::Director& director_;
  engine::ReplicaWatch watch_;
  LaunchCompany company_;
  mutable std::mutex mutex_;
  std::map<std::string, engine::ReplicaKey> last_;
};

}  // namespace caip::scenario
