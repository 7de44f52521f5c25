#include "host/companions/companion_launcher.h"

#include <signal.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

namespace caip::host {

using engine::ReplicaExit;
using engine::ReplicaKey;
using engine::ReplicaLaunch;
using engine::RunKey;

class CompanionLauncher::Body {
 public:
  Body(engine::Launcher& inner, CompanionOptions options, engine::LogSink& log, const Clock& clock)
      : inner_(inner), log_(log), clock_(clock), companions_(std::move(options)) {}

  void Launch(ReplicaLaunch launch, Listener listener) {
    const ReplicaKey key = launch.key;
    {
      const std::lock_guard lock(mutex_);
      held_[key] = {std::move(launch), std::move(listener)};
    }
    companions_.WhenReady([this, key](const CompanionsServed& served) { Release(key, served); });
  }

  /// True when the replica was still held: then it ends here, without having run.
  bool EndHeld(const ReplicaKey& key, int signal) {
    Listener listener;
    {
      const std::lock_guard lock(mutex_);
      const auto found = held_.find(key);
      if (found == held_.end()) return false;
      listener = std::move(found->second.listener);
      held_.erase(found);
    }
    ReplicaExit exit;
    exit.key = key;
    exit.signal = signal;
    listener.on_exit(exit);
    return true;
  }

  /// True when the replica is still held: then it will be launched frozen, or not.
  bool FreezeHeld(const ReplicaKey& key, bool is_frozen) {
    const std::lock_guard lock(mutex_);
    const auto found = held_.find(key);
    if (found == held_.end()) return false;
    found->second.is_frozen = is_frozen;
    return true;
  }

  void Forget(const RunKey& run) {
    const std::lock_guard lock(mutex_);
    warned_.erase(run);
  }

  engine::Launcher& inner() { return inner_; }
  std::mutex& inner_mutex() { return inner_mutex_; }

 private:
  struct Held {
    ReplicaLaunch launch;
    Listener listener;
    bool is_frozen = false;
  };

  // The companions' thread. The inner launcher must see the replica before a Kill that follows.
  void Release(const ReplicaKey& key, const CompanionsServed& served) {
    const std::lock_guard inner_lock(inner_mutex_);
    Held held;
    bool warn = false;
    {
      const std::lock_guard lock(mutex_);
      const auto found = held_.find(key);
      if (found == held_.end()) return;  // killed meanwhile
      held = std::move(found->second);
      held_.erase(found);
      warn = warned_.insert(key.run).second;
    }
    if (warn) Warn(key.run, served.warnings);
    for (const auto& [name, value] : served.environment) {
      std::erase_if(held.launch.environment,
                    [&name = name](const auto& variable) { return variable.first == name; });
      held.launch.environment.emplace_back(name, value);
    }
    inner_.Launch(std::move(held.launch), std::move(held.listener));
    if (held.is_frozen) inner_.Freeze(key, [] {});
  }

  void Warn(const RunKey& run, const std::vector<std::string>& warnings) {
    std::vector<engine::LogLine> lines;
    for (const std::string& warning : warnings) {
      lines.push_back({run, "service", engine::Severity::kWarning, clock_.Now(), warning});
    }
    if (!lines.empty()) log_.Write(std::move(lines));
  }

  engine::Launcher& inner_;
  engine::LogSink& log_;
  const Clock& clock_;
  std::mutex inner_mutex_;  // taken before mutex_
  std::mutex mutex_;
  std::map<ReplicaKey, Held> held_;
  std::set<RunKey> warned_;
  Companions companions_;  // last: its thread ends before the rest goes
};

CompanionLauncher::CompanionLauncher(engine::Launcher& inner, CompanionOptions options,
                                     engine::LogSink& log, const Clock& clock)
    : body_(std::make_unique<Body>(inner, std::move(options), log, clock)) {}
CompanionLauncher::~CompanionLauncher() = default;

Result<run::Program> CompanionLauncher::Resolve(const run::Program& program) const {
  return body_->inner().Resolve(program);
}

std::string CompanionLauncher::BootDisk(const ReplicaKey& key) const {
  return body_->inner().BootDisk(key);
}

void CompanionLauncher::Launch(ReplicaLaunch launch, Listener listener) {
  body_->Launch(std::move(launch), std::move(listener));
}

void CompanionLauncher::Signal(const ReplicaKey& key, int signal) {
  const bool ends = signal == SIGTERM || signal == SIGINT || signal == SIGKILL;
  if (ends && body_->EndHeld(key, signal)) return;
  const std::lock_guard lock(body_->inner_mutex());
  body_->inner().Signal(key, signal);
}

void CompanionLauncher::Kill(const ReplicaKey& key) {
  if (body_->EndHeld(key, SIGKILL)) return;
  const std::lock_guard lock(body_->inner_mutex());
  body_->inner().Kill(key);
}

void CompanionLauncher::Freeze(const ReplicaKey& key, std::function<void()> frozen) {
  if (body_->FreezeHeld(key, true)) return frozen();
  const std::lock_guard lock(body_->inner_mutex());
  body_->inner().Freeze(key, std::move(frozen));
}

void CompanionLauncher::Thaw(const ReplicaKey& key) {
  if (body_->FreezeHeld(key, false)) return;
  const std::lock_guard lock(body_->inner_mutex());
  body_->inner().Thaw(key);
}

void CompanionLauncher::Discard(const RunKey& run) {
  body_->Forget(run);
  const std::lock_guard lock(body_->inner_mutex());
  body_->inner().Discard(run);
}

}  // namespace caip::host
