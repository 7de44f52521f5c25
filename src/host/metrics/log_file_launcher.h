#pragma once
// A launcher that reads the log files of replicas while another launcher runs them.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/files.h"
#include "engine/ports.h"
#include "host/abilities.h"

namespace caip::host {

/// Where a replica writes its log files: output*.log (docs/service/vertex.md, section 10).
inline constexpr std::string_view kLogFilesAt = "/var/log-storage";

struct LogFileOptions {
  /// A directory of this host for the files of replicas, each in a directory of its own. It need
  /// not exist. They are deleted with the boot disks of their runs.
  Path root;
  /// Whether the service reads the log files of this run.
  std::function<bool(const engine::RunKey& run)> reads_files;
  /// How long the end of a replica may wait until its files are read.
  Duration end_wait_max = std::chrono::seconds(60);
};

/// Shows each replica a directory at kLogFilesAt, and writes the lines of its files to the log as
/// entries, as they are written. Before on_exit, the log has all of them, or a warning that says
/// what is missing. If its thread cannot be started, Launch itself calls on_exit. `inner` must give
/// each replica a file system of its own. The directory is a volume, because the kernel does not
/// report writes below an overlay. The log and the clock outlive it. Any thread.
class LogFileLauncher final : public ForwardingLauncher {
 public:
  LogFileLauncher(std::unique_ptr<engine::Launcher> inner, LogFileOptions options,
                  engine::LogSink& log, const Clock& clock);
  ~LogFileLauncher() override;  // no on_exit is called afterwards

  void Launch(engine::ReplicaLaunch launch, Listener listener) override;
  void Discard(const engine::RunKey& run) override;

 private:
  class Reader;
  using Place = std::pair<engine::RunKey, run::ReplicaId>;

  Path DirectoryOf(uint64_t number) const { return options_.root / std::to_string(number); }
  uint64_t NumberFor(const engine::ReplicaLaunch& launch);

  LogFileOptions options_;
  std::shared_ptr<Reader> reader_;  // shared with the listeners that the inner launcher still holds
  std::mutex mutex_;
  std::map<Place, uint64_t> numbers_;  // of the replicas' directories; guarded by mutex_
  uint64_t last_number_ = 0;           // guarded by mutex_
};

}  // namespace caip::host
