#pragma once
// Volumes of machines: directories of the host at paths of their own (engine/ports.h).

#include <vector>

#include "base/files.h"
#include "engine/ports.h"
#include "host/launcher/protocol.h"
#include "host/machine/host_tree.h"

namespace caip::host {

/// Hides kWorkOfStorage among the buckets, which the machine sees at `buckets`. A replica could put
/// links there, which lead the emulator to other files of the host.
void HideWorkOfStorage(const std::string& buckets, std::vector<launcher::MachineMount>& mounts);

/// Completes a boot disk, new or kept, for the volumes that are copied on write:
/// <boot disk>/volumes/<name>/changes and .../work.
Status PrepareVolumes(const engine::ReplicaLaunch& launch, const Path& boot_disk);

/// The state directories, which machines do not see in their volumes.
struct StatesInVolumes {
  const Path& own;  // of the machine's emulator
  const std::vector<Path>& all;
  const std::vector<HostMount>& mounts;  // of the host
};

/// Adds the volumes. One in another one comes after it. One in a state directory is empty, unless
/// it is a bucket or belongs to the run (closed_files.h).
void AddVolumes(const engine::ReplicaLaunch& launch, const Path& boot_disk,
                const StatesInVolumes& states, std::vector<launcher::MachineMount>& mounts);

}  // namespace caip::host
