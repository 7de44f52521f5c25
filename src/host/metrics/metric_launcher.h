#pragma once
// A launcher that reads what trials report while another launcher runs them.

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/files.h"
#include "engine/ports.h"

namespace caip::host {

struct MetricLauncherOptions {
  /// The directory of a gs:// URI, whether it is there or not; "" where it has none.
  std::function<Path(const std::string& uri)> directory_of;
};

/// As a Launcher; on_reports and on_exit of launches with `metrics` are called on a thread of ours,
/// the exit behind the last look at everything. All that it is given outlives it.
class MetricLauncher final : public engine::Launcher {
 public:
  MetricLauncher(engine::Launcher& inner, MetricLauncherOptions options, engine::LogSink& log,
                 const Clock& clock);
  ~MetricLauncher() override;  // nobody is called any more

  Result<run::Program> Resolve(const run::Program& program) const override;
  std::string BootDisk(const engine::ReplicaKey& key) const override;
  void Launch(engine::ReplicaLaunch launch, Listener listener) override;
  void Signal(const engine::ReplicaKey& key, int signal) override;
  void Kill(const engine::ReplicaKey& key) override;
  void Freeze(const engine::ReplicaKey& key, std::function<void()> frozen) override;
  void Thaw(const engine::ReplicaKey& key) override;
  void Discard(const engine::RunKey& run) override;

 private:
  class Reader;
  engine::Launcher& inner_;
  std::shared_ptr<Reader> reader_;  // shared with the listeners that `inner_` still holds
};

}  // namespace caip::host
