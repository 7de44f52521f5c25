#pragma once
// Replicas that follow a script.

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/ports.h"
#include "harness/simulation/hand_clock.h"

namespace caip::harness {

/// What one start of a replica does.
struct Script {
  Duration start_after{0};
  Duration run_for = std::chrono::seconds(10);  // kForever: until it is stopped
  int exit_code = 0;
  int signal = 0;
  bool out_of_memory = false;
  std::string traceback = {};
  std::string start_error = {};  // then nothing starts at all
  /// How long it takes to obey SIGTERM; kForever: it does not.
  Duration obeys_in = std::chrono::milliseconds(20);
  int exit_code_when_told = -1;  // -1: it dies of SIGTERM
  /// Of a trial's master: what it reports, and how long after its start.
  std::vector<std::pair<Duration, engine::Report>> reports = {};
};
inline constexpr Duration kForever = Duration::max();

/// Starts nothing: replicas live and die in the agenda's time.
class ScriptedLauncher final : public engine::Launcher, public engine::LocalDisks {
 public:
  explicit ScriptedLauncher(Agenda& agenda) : agenda_(agenda) {}

  std::function<Script(const engine::ReplicaLaunch&)> script = [](const engine::ReplicaLaunch&) {
    return Script{};
  };
  std::function<void(const engine::ReplicaLaunch&)> on_launch;

  /// A program by the image's URI.
  std::map<std::string, std::vector<std::string>> images;

  Result<run::Program> Resolve(const run::Program& program) const override;
  void Launch(engine::ReplicaLaunch launch, Listener listener) override;
  void Signal(const engine::ReplicaKey& key, int signal) override;
  void Kill(const engine::ReplicaKey& key) override;
  void Discard(const engine::RunKey& run) override { discarded_.insert(run); }
  std::string BootDisk(const engine::ReplicaKey& key) const override;

  /// The emulator was killed: nothing of it lives.
  void LoseAll() { live_.clear(); }
  std::vector<engine::ReplicaKey> Live() const;
  size_t live() const { return live_.size(); }
  /// Of the run and, where it is a tuning job's, of its trials.
  bool AnyLives(const engine::RunKey& run) const;
  /// Any boot of it.
  bool Lives(const engine::RunKey& run, const run::ReplicaId& replica) const;
  size_t launches() const { return launches_; }
  bool Discarded(const engine::RunKey& run) const { return discarded_.contains(run); }

 private:
  struct Living {
    Script does;
    Listener listener;
  };
  void End(const engine::ReplicaKey& key, int code, int signal, bool out_of_memory);

  Agenda& agenda_;
  std::map<engine::ReplicaKey, Living> live_;
  std::set<engine::RunKey> discarded_;
  size_t launches_ = 0;
};

}  // namespace caip::harness
