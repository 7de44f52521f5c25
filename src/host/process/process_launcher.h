#pragma once
// Starts replicas as processes of this host.

#include <cstdint>
#include <functional>
#include <memory>

#include "base/clock.h"
#include "base/files.h"
#include "engine/ports.h"
#include "host/abilities.h"
#include "host/devices/gpu_driver.h"
#include "host/machine/machine_limits.h"
#include "host/process/image_map.h"
#include "host/watch/call_source.h"

namespace caip::host {

struct ProcessLauncherOptions {
  Path state_directory;
  Path program = {};                    // caip-launcher; empty: the one beside the running program
  std::vector<Path> outer_states = {};  // MachineFiles::MachineFiles
  ImageRules images = {};
  /// Machines have a root of their own (machine_files.h), which is the boot disk, else the host's.
  bool own_roots = false;
  bool keep_disks = false;  // what runs leave on their disks is kept (boot_disks.h)
  /// The CPUs and memory of machine types; null: not limited.
  std::shared_ptr<MachineLimits> limits = nullptr;
  /// The size of a boot disk, if the job's is larger; 0: the sizes of disks are not limited.
  uint64_t disk_bytes_max = 0;
  bool only_named_disk_sizes = false;  // and not the usual one, run::kBootDiskGbDefault
  /// Where the driver is that images with GPUs get.
  DriverPlaces gpu_driver = {};
  /// Counts the processes that the kernel has killed because memory ran out, since it booted.
  std::function<int64_t()> oom_kills = {};  // empty: asks /proc/vmstat
  /// How watched calls are held.
  Interposition::Kind interposition = InterpositionOf().kind;
  /// Ends the wait for earlier replicas (launcher_lock.h) once it is true.
  std::function<bool()> interrupted = {};
};

/// Starts each replica through caip-launcher in its own session on its own boot disk. The replica
/// has exactly the environment of its launch and CAIP_REPLICA (orphans.h). The methods only post a
/// task to a worker thread. Listeners are called on threads of the launcher until the destructor
/// returns. The destructor kills running replicas without reporting their exits.
class ProcessLauncher : public engine::Launcher,
                        public engine::LocalDisks,
                        public Freezable,
                        public Watchable,
                        public ShowsProcesses,
                        public OwnMachines,
                        public DisturbsNetworks {
 public:
  /// Kills the replicas that an earlier emulator left on this state directory and deletes their
  /// disks. `clock` and `sink` must outlive the launcher.
  static Result<std::unique_ptr<ProcessLauncher>> Start(ProcessLauncherOptions options,
                                                        const Clock& clock, engine::LogSink& sink);
};

}  // namespace caip::host
