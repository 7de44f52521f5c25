#include "host/machine/machine_volumes.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "host/machine/closed_files.h"
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

// `directory`: that of the volume, without links.
MachineMount MountOf(const engine::Volume& volume, const std::string& directory,
                     const Path& boot_disk) {
  using Use = engine::Volume::Use;
  if (volume.use != Use::kCopyOnWrite) {
    const uint32_t flags = volume.use == Use::kReadOnly ? kMountReadOnly : 0;
    return {MountKind::kBind, directory, volume.shown, flags};
  }
  const Path upper = UpperOf(boot_disk, volume);
  const std::string options = OverlayOptions(directory, upper / kChanges, upper / kWork);
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

void HideWorkOfStorage(const std::string& buckets, std::vector<MachineMount>& mounts) {
  for (const char* directory : kWorkOfStorage) {
    mounts.push_back({MountKind::kFileSystem, "tmpfs", buckets + "/" + directory, kMountReadOnly,
                      "mode=555,size=4k"});
  }
}

namespace {

MachineMount HidingMount(const std::string& place) {
  return {MountKind::kFileSystem, "tmpfs", place, 0, kHidingOptions};
}

// `directory`: that of the volume, without links. A copy of a directory does not have the state
// directory, but shall get no places for what the machine sees of it.
void HideStatesIn(const engine::Volume& volume, const std::string& directory,
                  const StatesInVolumes& states, std::vector<MachineMount>& mounts) {
  for (const Path& state : states.all) {
    const auto hidden = static_cast<std::ptrdiff_t>(mounts.size());
    HideState(state, directory, volume.shown, states.mounts, mounts);
    const std::string place = state.string();
    const bool is_shared = volume.use == engine::Volume::Use::kShared;
    if (!is_shared || !IsBelow(place, volume.shown)) continue;
    const bool is_hidden = std::any_of(
        mounts.begin() + hidden, mounts.end(),
        [&](const MachineMount& mount) { return mount.target == place && mount.flags == 0; });
    if (!is_hidden) mounts.push_back(HidingMount(place));
  }
}

}  // namespace

void AddVolumes(const engine::ReplicaLaunch& launch, const Path& boot_disk,
                const StatesInVolumes& states, std::vector<MachineMount>& mounts) {
  if (launch.volumes.empty()) return;
  const ClosedFiles closed(states.own, states.all, states.mounts);
  const std::string buckets = FollowLinks((states.own / "buckets").string());
  std::vector<engine::Volume> volumes = launch.volumes;
  std::ranges::sort(volumes, {}, &engine::Volume::shown);
  for (const engine::Volume& volume : volumes) {
    const std::string directory = FollowLinks(volume.directory);
    if (closed.IsClosedVolume(volume, directory)) {
      mounts.push_back(HidingMount(volume.shown));
      continue;
    }
    mounts.push_back(MountOf(volume, directory, boot_disk));
    if (directory == buckets) HideWorkOfStorage(volume.shown, mounts);
    HideStatesIn(volume, directory, states, mounts);
  }
}

}  // namespace caip::host
