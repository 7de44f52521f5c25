#pragma once
// A launcher that starts replicas once the companions serve, and gives replicas their addresses.

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "engine/ports.h"
#include "host/abilities.h"
#include "host/companions/companions.h"

namespace caip::host {

/// Calls the inner launcher also from the companions' thread, but never from two threads at once.
/// `log` and `clock` must outlive it.
class CompanionLauncher final : public ForwardingLauncher {
 public:
  CompanionLauncher(std::unique_ptr<engine::Launcher> inner, CompanionOptions options,
                    engine::LogSink& log, const Clock& clock);

  void Launch(engine::ReplicaLaunch launch, Listener listener) override;
  void Signal(const engine::ReplicaKey& key, int signal) override;
  void Kill(const engine::ReplicaKey& key) override;
  void Discard(const engine::RunKey& run) override;

 private:
  struct Waiting {
    engine::ReplicaLaunch launch;
    Listener listener;
  };
  void Release(const engine::ReplicaKey& key, const CompanionsServed& served);
  bool EndWaiting(const engine::ReplicaKey& key, int signal);
  void Warn(const engine::RunKey& run, const std::vector<std::string>& warnings);

  engine::LogSink& log_;
  const Clock& clock_;
  std::mutex inner_mutex_;  // taken before mutex_
  std::mutex mutex_;
  std::map<engine::ReplicaKey, Waiting> waiting_;  // guarded by mutex_
  std::set<engine::RunKey> warned_;                // guarded by mutex_
  Companions companions_;                          // last: its thread ends before the rest goes
};

}  // namespace caip::host
