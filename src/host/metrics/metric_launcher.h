#pragma once
// A launcher that reads the reports of trials while another launcher runs them.

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/files.h"
#include "engine/ports.h"
#include "host/abilities.h"

namespace caip::host {

struct MetricLauncherOptions {
  /// The directory of a gs:// URI, whether it exists or not; "" if it has none.
  std::function<Path(const std::string& uri)> directory_of;
  /// How long the end of a trial may wait until its reports are read.
  Duration end_wait_max = std::chrono::seconds(60);
};

/// Calls on_reports and on_exit of launches with `metrics` on its own thread. Before on_exit, it
/// reads all sources once more, or the log has a warning that reports are missing. If it cannot
/// start its thread, Launch itself calls on_exit. Its arguments outlive it.
class MetricLauncher final : public ForwardingLauncher {
 public:
  /// `disks` is null if `inner` keeps boot disks elsewhere. Then metric files cannot be read, only
  /// the event files below the trial's job directory, and the trial's log has a warning.
  MetricLauncher(std::unique_ptr<engine::Launcher> inner, engine::LocalDisks* disks,
                 MetricLauncherOptions options, engine::LogSink& log, const Clock& clock);
  ~MetricLauncher() override;  // no listener is called afterwards

  void Launch(engine::ReplicaLaunch launch, Listener listener) override;

 private:
  class Reader;
  std::shared_ptr<Reader> reader_;  // shared with the listeners that the inner launcher still holds
};

}  // namespace caip::host
