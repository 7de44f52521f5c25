#include "host/machine/machine_places.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <set>
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
void AddHidingPlaces(const std::vector<Path>& states, const HiddenTest& is_hidden,
                     std::vector<MachineMount>& places) {
  for (const auto& [name, place] : EmptyDirectoriesOfHost()) {
    if (!is_hidden(std::string(name))) continue;
    places.push_back(DirectoryAt(place, kMountOpaque, ModeOfEmptyDirectory(name)));
  }
  for (const Path& state : states) {
    const bool is_hidden_already = std::ranges::any_of(
        places, [&](const MachineMount& place) { return IsBelow(state.string(), place.target); });
    if (!is_hidden_already) places.push_back(DirectoryAt(state.string(), kMountOpaque));
  }
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

constexpr mode_t kUsualMode = 0755;  // the launcher gives it to parents

// The layer's directories hide the modes of the host's, so other parents get theirs first.
std::vector<MachineMount> WithParents(const std::vector<MachineMount>& places) {
  std::vector<MachineMount> all;
  std::set<std::string> made;
  for (const MachineMount& place : places) {
    Path parent = "/";
    for (const Path& part : Path(place.target).parent_path().relative_path()) {
      parent /= part;
      struct stat status {};
      const bool is_on_host = ::lstat(parent.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
      const mode_t bits = status.st_mode & 07777u;
      if (!is_on_host || bits == kUsualMode || !made.insert(parent.string()).second) continue;
      char mode[16];
      std::snprintf(mode, sizeof mode, "%o", bits);
      all.push_back(DirectoryAt(parent.string(), 0, mode));
    }
    made.insert(place.target);
    all.push_back(place);
  }
  return all;
}

}  // namespace

std::vector<MachineMount> PlacesOf(const engine::ReplicaLaunch& launch,
                                   const std::vector<Path>& states,
                                   const std::vector<MachineMount>& mounts,
                                   const std::function<bool(const std::string&)>& is_hidden) {
  std::vector<MachineMount> places;
  AddHidingPlaces(states, is_hidden, places);
  AddDirectories(launch, is_hidden, places);
  AddPlacesOfMounts(mounts, is_hidden, places);
  return WithParents(places);
}

void HideState(const Path& state, const std::string& directory, const std::string& shown,
               const std::vector<HostMount>& mounts, std::vector<MachineMount>& out) {
  const auto hide = [&](const std::string& path, uint32_t flags) {
    const Path below = Path(path).lexically_relative(directory);
    const std::string place = below == "." ? shown : (Path(shown) / below).string();
    out.push_back({MountKind::kFileSystem, "tmpfs", place, flags, kHidingOptions});
  };
  if (const std::string path = StateBelow(directory, state); !path.empty()) hide(path, 0);
  for (const std::string& other : OtherPlacesOf(state.string(), mounts)) {
    if (IsBelow(other, directory)) hide(other, kMountIfThere);  // another mount may cover it
  }
}

}  // namespace caip::host
