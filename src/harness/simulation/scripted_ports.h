#pragma once
// Ports of the engine that follow a script: replicas, installations and tasks.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/ports.h"
#include "harness/simulation/manual_clock.h"

namespace caip::harness {

/// The behaviour of one start of a replica.
struct Script {
  Duration start_after{0};
  Duration run_for = std::chrono::seconds(10);  // kForever: until it is stopped
  int exit_code = 0;
  int signal = 0;
  bool out_of_memory = false;
  std::string traceback = {};
  std::string start_error = {};  // if not empty, no process starts
  /// The time from SIGTERM to the exit; kForever: it ignores SIGTERM.
  Duration sigterm_takes = std::chrono::milliseconds(20);
  int exit_code_of_sigterm = -1;  // -1: it dies of SIGTERM
  /// The reports of a trial's master, with their times after the start.
  std::vector<std::pair<Duration, engine::Report>> reports = {};
};
inline constexpr Duration kForever = Duration::max();

/// A launcher without processes: replicas are events of the queue.
class ScriptedLauncher final : public engine::Launcher, public engine::LocalDisks {
 public:
  explicit ScriptedLauncher(EventQueue& events) : events_(events) {}

  std::function<Script(const engine::ReplicaLaunch&)> script = [](const engine::ReplicaLaunch&) {
    return Script{};
  };
  std::function<void(const engine::ReplicaLaunch&)> on_launch;

  /// The local commands of images, by URI. Empty: the image brings its own program.
  std::map<std::string, std::vector<std::string>> images;

  Result<run::Program> Resolve(const run::Program& program) const override;
  void Launch(engine::ReplicaLaunch launch, Listener listener) override;
  void Signal(const engine::ReplicaKey& key, int signal) override;
  void Kill(const engine::ReplicaKey& key) override;
  void Discard(const engine::RunKey& run) override { discarded_.insert(run); }
  std::string BootDisk(const engine::ReplicaKey& key) const override;

  /// Removes all replicas, as the death of the emulator does.
  void LoseAll() { live_.clear(); }
  std::vector<engine::ReplicaKey> Live() const;
  size_t live() const { return live_.size(); }
  /// Whether a replica of the run or of one of its trials lives.
  bool AnyLives(const engine::RunKey& run) const;
  /// Whether any boot of the replica lives.
  bool Lives(const engine::RunKey& run, const run::ReplicaId& replica) const;
  size_t launches() const { return launches_; }
  bool Discarded(const engine::RunKey& run) const { return discarded_.contains(run); }

 private:
  struct Living {
    Script does;
    Listener listener;
  };
  void End(const engine::ReplicaKey& key, int code, int signal, bool out_of_memory);

  EventQueue& events_;
  std::map<engine::ReplicaKey, Living> live_;
  std::set<engine::RunKey> discarded_;
  size_t launches_ = 0;
};

/// A packager without installations: each takes a time and may fail.
class ScriptedPackager final : public engine::Packager {
 public:
  explicit ScriptedPackager(EventQueue& events) : events_(events) {}
  Duration takes{0};
  std::function<std::optional<engine::Prepared::Failure>(const engine::PrepareRequest&)> fails;
  std::map<std::string, std::shared_ptr<const engine::PreparedImage>> images;  // by URI

  void Prepare(engine::PrepareRequest request, std::function<void(engine::Prepared)> done) override;
  void Abandon(const engine::RunKey& run) override { working_.erase(run); }
  size_t working() const { return working_.size(); }
  const std::vector<engine::PrepareRequest>& requests() const { return requests_; }
  void LoseAll() { working_.clear(); }

 private:
  EventQueue& events_;
  std::map<engine::RunKey, uint64_t> working_;
  std::vector<engine::PrepareRequest> requests_;
  uint64_t numbers_ = 0;
};

/// An executor on the only thread. Each task is an event of the queue.
class ScriptedExecutor final : public engine::Executor {
 public:
  explicit ScriptedExecutor(EventQueue& events) : events_(events) {}
  std::function<Duration()> takes = [] { return Duration(0); };

  void Do(std::function<void()> work) override {
    ++tasks_;
    events_.In(takes(), std::move(work));
  }
  size_t tasks() const { return tasks_; }

 private:
  EventQueue& events_;
  size_t tasks_ = 0;
};

}  // namespace caip::harness
