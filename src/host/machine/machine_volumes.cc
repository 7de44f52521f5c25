#include "host/machine/machine_volumes.h"

#include <algorithm>
#include <string>

#include "host/machine/host_tree.h"
#include "host/machine/machine_places.h"
#include "host/machine/overlays.h"
#include "host/store/state_directory.h"

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
    RETURN_IF_ERROR(EnsureRemoved(upper / kWork));  // as RenewWork
    for (const char* part : {kChanges, kWork}) RETURN_IF_ERROR(MakeDirectories(upper / part));
  }
  return Ok{};
}

namespace {

// The place of the state directory in the volume, as the machine sees it; "" if it is elsewhere. A
// copy does not have it, but shall get no places for what the machine sees of it.
std::string StateInVolume(const engine::Volume& volume, const Path& state) {
  if (volume.use == engine::Volume::Use::kShared) {
    return IsBelow(state.string(), volume.shown) ? state.string() : "";
  }
  const std::string below = StateBelow(volume.directory, state);
  return below.empty() ? "" : volume.shown + below.substr(volume.directory.size());
}

}  // namespace

void HideWorkOfStorage(const std::string& buckets, std::vector<MachineMount>& mounts) {
  for (const char* directory : kWorkOfStorage) {
    mounts.push_back({MountKind::kFileSystem, "tmpfs", buckets + "/" + directory, kMountReadOnly,
                      "mode=555,size=4k"});
  }
}

void AddVolumes(const engine::ReplicaLaunch& launch, const Path& boot_disk,
                const PlacesInVolumes& places, std::vector<MachineMount>& mounts) {
  std::vector<engine::Volume> volumes = launch.volumes;
  std::ranges::sort(volumes, {}, &engine::Volume::shown);
  for (const engine::Volume& volume : volumes) {
    mounts.push_back(MountOf(volume, boot_disk));
    if (volume.directory == places.buckets) HideWorkOfStorage(volume.shown, mounts);
    for (const Path& state : places.states) {
      const std::string hidden = StateInVolume(volume, state);
      if (hidden.empty()) continue;
      mounts.push_back({MountKind::kFileSystem, "tmpfs", hidden, 0, kHidingOptions});
    }
  }
}

}  // namespace caip::host
