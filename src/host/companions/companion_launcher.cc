#include "host/companions/companion_launcher.h"

#include <signal.h>

#include <algorithm>
#include <utility>

#include "run/texts.h"

namespace caip::host {

using engine::ReplicaExit;
using engine::ReplicaKey;
using engine::ReplicaLaunch;
using engine::RunKey;

CompanionLauncher::CompanionLauncher(std::unique_ptr<engine::Launcher> inner,
                                     CompanionOptions options, engine::LogSink& log,
                                     const Clock& clock)
    : ForwardingLauncher(std::move(inner)),
      log_(log),
      clock_(clock),
      companions_(std::move(options)) {}

void CompanionLauncher::Launch(ReplicaLaunch launch, Listener listener) {
  const ReplicaKey key = launch.key;
  {
    const std::lock_guard lock(mutex_);
    waiting_[key] = {std::move(launch), std::move(listener)};
  }
  companions_.WhenReady([this, key](const CompanionsServed& served) { Release(key, served); });
}

void CompanionLauncher::Signal(const ReplicaKey& key, int signal) {
  const bool ends = signal == SIGTERM || signal == SIGINT || signal == SIGKILL;
  if (ends && EndWaiting(key, signal)) return;
  const std::lock_guard lock(inner_mutex_);
  inner().Signal(key, signal);
}

void CompanionLauncher::Kill(const ReplicaKey& key) {
  if (EndWaiting(key, SIGKILL)) return;
  const std::lock_guard lock(inner_mutex_);
  inner().Kill(key);
}

void CompanionLauncher::Discard(const RunKey& run) {
  {
    const std::lock_guard lock(mutex_);
    warned_.erase(run);
  }
  const std::lock_guard lock(inner_mutex_);
  inner().Discard(run);
}

/// Runs on the companions' thread. The inner launcher must see the replica before a later Kill.
void CompanionLauncher::Release(const ReplicaKey& key, const CompanionsServed& served) {
  const std::lock_guard inner_lock(inner_mutex_);
  Waiting released;
  bool warn = false;
  {
    const std::lock_guard lock(mutex_);
    const auto found = waiting_.find(key);
    if (found == waiting_.end()) return;  // killed while it waited
    released = std::move(found->second);
    waiting_.erase(found);
    warn = warned_.insert(key.run).second;
  }
  if (warn) Warn(key.run, served.warnings);
  for (const auto& [name, value] : served.environment) {
    std::erase_if(released.launch.environment,
                  [&name = name](const auto& variable) { return variable.first == name; });
    released.launch.environment.emplace_back(name, value);
  }
  inner().Launch(std::move(released.launch), std::move(released.listener));
}

/// Returns true if the replica was still waiting. Then it ends here and never runs.
bool CompanionLauncher::EndWaiting(const ReplicaKey& key, int signal) {
  Listener listener;
  {
    const std::lock_guard lock(mutex_);
    const auto found = waiting_.find(key);
    if (found == waiting_.end()) return false;
    listener = std::move(found->second.listener);
    waiting_.erase(found);
  }
  ReplicaExit exit;
  exit.key = key;
  exit.signal = signal;
  listener.on_exit(exit);
  return true;
}

void CompanionLauncher::Warn(const RunKey& run, const std::vector<std::string>& warnings) {
  std::vector<engine::LogLine> lines;
  for (const std::string& warning : warnings) {
    lines.push_back(
        {run, std::string(run::kServiceTask), engine::Severity::kWarning, clock_.Now(), warning});
  }
  if (!lines.empty()) log_.Write(std::move(lines));
}

}  // namespace caip::host
