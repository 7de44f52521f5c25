#include "host/machine/machine_places.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <utility>

#include "host/machine/host_tree.h"

namespace caip::host {
namespace {

using launcher::kMountIfThere;
using launcher::kMountOpaque;
using launcher::MachineMount;
using launcher::MountKind;

using HiddenTest = std::function<bool(const std::string&)>;

MachineMount DirectoryAt(std::string path, uint32_t flags = 0, const char* mode = "755") {
  return {MountKind::kDirectory, "", std::move(path), flags, mode};
}

// Parents come before what is below them, because an existing place is not made again.
void AddHidingPlaces(const Path& state, const HiddenTest& is_hidden,
                     std::vector<MachineMount>& places) {
  for (const std::string_view directory : kEmptyDirectories) {
    if (!is_hidden(std::string(directory))) continue;
    const char* mode = directory.ends_with("tmp") ? "1777" : "755";
    places.push_back(DirectoryAt(std::string(directory), kMountOpaque, mode));
  }
  const bool is_hidden_already = std::ranges::any_of(
      places, [&](const MachineMount& place) { return IsBelow(state.string(), place.target); });
  if (!is_hidden_already) places.push_back(DirectoryAt(state.string(), kMountOpaque));
}

bool IsOnHost(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

// The host may have links on the way to a directory that it does not have.
std::string RealPath(const std::string& path) {
  std::error_code error;
  const Path real = std::filesystem::weakly_canonical(path, error);
  return error ? path : real.string();
}

void AddDirectories(const engine::ReplicaLaunch& launch, const HiddenTest& is_hidden,
                    std::vector<MachineMount>& places) {
  std::vector<std::string> directories;
  for (const std::string& directory : launch.user_directories) {
    directories.push_back((Path("/") / directory).lexically_normal().string());
  }
  for (const engine::Volume& volume : launch.volumes) directories.push_back(volume.shown);
  for (const std::string& directory : directories) {
    if (is_hidden(directory)) {
      places.push_back(DirectoryAt(directory));
    } else if (!IsOnHost(directory)) {
      places.push_back(DirectoryAt(RealPath(directory)));
    }
  }
}

// What is mounted below another mount has its place there.
void AddPlacesOfMounts(const std::vector<MachineMount>& mounts, const HiddenTest& is_hidden,
                       std::vector<MachineMount>& places) {
  for (auto mount = mounts.begin(); mount != mounts.end(); ++mount) {
    const bool is_mount = mount->kind == MountKind::kBind || mount->kind == MountKind::kFileSystem;
    if (!is_mount || mount->flags & kMountIfThere || !is_hidden(mount->target)) continue;
    const bool is_below_another =
        std::any_of(mounts.begin(), mount, [&](const MachineMount& earlier) {
          return earlier.target != mount->target && IsBelow(mount->target, earlier.target);
        });
    if (is_below_another) continue;
    std::error_code error;
    const bool is_directory = mount->kind == MountKind::kFileSystem ||
                              std::filesystem::is_directory(mount->source, error);
    if (is_directory) {
      places.push_back(DirectoryAt(mount->target));
    } else if (IsOnHost(mount->source)) {
      places.push_back({MountKind::kFile, "", mount->target});
    }
  }
}

}  // namespace

std::vector<MachineMount> PlacesOf(const engine::ReplicaLaunch& launch, const Path& state,
                                   const std::vector<MachineMount>& mounts,
                                   const std::function<bool(const std::string&)>& is_hidden) {
  std::vector<MachineMount> places;
  AddHidingPlaces(state, is_hidden, places);
  AddDirectories(launch, is_hidden, places);
  AddPlacesOfMounts(mounts, is_hidden, places);
  return places;
}

void HideState(const Path& state, const std::string& place, const std::vector<HostMount>& mounts,
               std::vector<MachineMount>& out) {
  const auto hide = [&](const std::string& path, uint32_t flags) {
    out.push_back({MountKind::kFileSystem, "tmpfs", path, flags, kHidingOptions});
  };
  if (const std::string path = StateBelow(place, state); !path.empty()) hide(path, 0);
  for (const std::string& other : OtherPlacesOf(state.string(), mounts)) {
    if (IsBelow(other, place)) hide(other, kMountIfThere);  // another mount may cover it
  }
}

}  // namespace caip::host
