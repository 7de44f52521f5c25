#include "host/machine/machine_volumes.h"

#include <algorithm>
#include <string>

#include "host/machine/host_tree.h"
#include "host/machine/overlays.h"

namespace caip::host {
namespace {

using launcher::kMountReadOnly;
using launcher::MachineMount;
using launcher::MountKind;

constexpr char kVolumes[] = "volumes";

// What a machine writes to a volume that is copied on write.
Path UpperOf(const Path& boot_disk, const engine::Volume& volume) {
  return boot_disk / kVolumes / LayerName(volume.shown);
}

MachineMount MountOf(const engine::Volume& volume, const Path& boot_disk) {
  using Use = engine::Volume::Use;
  if (volume.use != Use::kCopyOnWrite) {
    const uint32_t flags = volume.use == Use::kReadOnly ? kMountReadOnly : 0;
    return {MountKind::kBind, volume.directory, volume.shown, flags};
  }
  const Path upper = UpperOf(boot_disk, volume);
  const std::string options = OverlayOptions(volume.directory, upper / kChanges, upper / kWork);
  return {MountKind::kFileSystem, "overlay", volume.shown, 0,
          options + (HasRights(boot_disk) ? "" : ",userxattr")};
}

}  // namespace

Status PrepareVolumes(const engine::ReplicaLaunch& launch, const Path& boot_disk) {
  for (const engine::Volume& volume : launch.volumes) {
    if (volume.use != engine::Volume::Use::kCopyOnWrite) continue;
    const Path upper = UpperOf(boot_disk, volume);
    RemoveTree(upper / kWork);  // as RenewWork
    for (const char* part : {kChanges, kWork}) RETURN_IF_ERROR(MakeDirectories(upper / part));
  }
  return Ok{};
}

void AddVolumes(const engine::ReplicaLaunch& launch, const Path& boot_disk, const Path& state,
                std::vector<MachineMount>& mounts) {
  std::vector<engine::Volume> volumes = launch.volumes;
  std::ranges::sort(volumes, {}, &engine::Volume::shown);
  for (const engine::Volume& volume : volumes) {
    mounts.push_back(MountOf(volume, boot_disk));
    if (volume.use == engine::Volume::Use::kShared) continue;
    const std::string hidden = StateBelow(volume.directory, state);
    if (hidden.empty()) continue;
    const std::string below = hidden.substr(volume.directory.size());
    mounts.push_back({MountKind::kFileSystem, "tmpfs", volume.shown + below, 0, "mode=755"});
  }
}

}  // namespace caip::host
