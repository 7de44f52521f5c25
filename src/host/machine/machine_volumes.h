#pragma once
// Volumes of machines: directories of the host at paths of their own (engine/ports.h).

#include <vector>

#include "base/files.h"
#include "engine/ports.h"
#include "host/launcher/protocol.h"

namespace caip::host {

/// Hides kWorkOfStorage among the buckets, which the machine sees at `buckets`. A replica could put
/// links there, which lead the emulator to other files of the host.
void HideWorkOfStorage(const std::string& buckets, std::vector<launcher::MachineMount>& mounts);

/// Completes a boot disk, new or kept, for the volumes that are copied on write:
/// <boot disk>/volumes/<name>/changes and .../work.
Status PrepareVolumes(const engine::ReplicaLaunch& launch, const Path& boot_disk);

/// What a machine sees specially in its volumes.
struct PlacesInVolumes {
  Path buckets;              // without what Cloud Storage keeps for itself there
  std::vector<Path> states;  // the state directories, which are hidden
};

/// Adds the volumes. One in another one comes after it.
void AddVolumes(const engine::ReplicaLaunch& launch, const Path& boot_disk,
                const PlacesInVolumes& places, std::vector<launcher::MachineMount>& mounts);

}  // namespace caip::host
