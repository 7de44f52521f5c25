#pragma once
// A launcher whose every start and end is told to the injector, and which keeps down what is to
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
#include "host/abilities.h"

namespace caip::scenario {

/// Alters a launch, last of all.
using Dresser = std::function<void(engine::ReplicaLaunch&, const std::string& boot_disk)>;

/// Who else has to do with launches; all may be null.
struct LaunchCompany {
  FakeClocks* clocks = nullptr;  // where replicas get their time
  Dresser dress = nullptr;
  Onlooker* onlooker = nullptr;
};

/// `injector` outlives it.
class WatchedLauncher final : public host::ForwardingLauncher {
 public:
  WatchedLauncher(std::unique_ptr<engine::Launcher> inner, engine::LocalDisks& disks,
                  harness::FaultInjector& injector, LaunchCompany company)
      : ForwardingLauncher(std::move(inner)),
        disks_(disks),
        injector_(injector),
        company_(std::move(company)) {}

  void Launch(engine::ReplicaLaunch launch, Listener listener) override;

  /// The boot that was launched last; nullopt before the first.
  std::optional<engine::ReplicaKey> LastBoot(const std::string& replica) const;

 private:
  engine::LocalDisks& disks_;
  harness::FaultInjector& injector_;
  LaunchCompany company_;
  mutable std::mutex mutex_;
  std::map<std::string, engine::ReplicaKey> last_;
};

}  // namespace caip::scenario
