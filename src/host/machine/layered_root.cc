#include "host/machine/layered_root.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/encoding.h"
#include "host/machine/overlays.h"

namespace caip::host {
namespace {

using launcher::kMountAside;
using launcher::kMountDevices;
using launcher::kMountIfOnHost;
using launcher::kMountIfReadOnly;
using launcher::kMountIfThere;
using launcher::kMountOptional;
using launcher::kMountOrShow;
using launcher::kMountReadOnly;
using launcher::MachineMount;
using launcher::MountKind;

constexpr char kLayers[] = "layers";
constexpr char kBaseWork[] = "base";  // the working directory of the root's own overlay
constexpr char kUserAttributes[] = ",userxattr";

bool HostHasDirectory(const Path& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

}  // namespace

bool HasLayers(const Path& boot_disk) { return HostHas(boot_disk / kLayers); }

Path LayerOf(const Path& boot_disk, const std::string& directory) {
  return boot_disk / kLayers / LayerName(directory);
}

namespace {

// The directory with a layer that the path is in; "": there is none.
std::string LayeredDirectoryOf(const Path& boot_disk, const Path& path) {
  if (!HasLayers(boot_disk)) return "";
  for (Path directory = path; directory.has_relative_path(); directory = directory.parent_path()) {
    if (HostHas(LayerOf(boot_disk, directory.string()))) return directory.string();
  }
  return "";
}

}  // namespace

bool IsInLayer(const Path& boot_disk, const std::string& path) {
  return !LayeredDirectoryOf(boot_disk, path).empty();
}

Path UpperOf(const Path& boot_disk, const std::string& path) {
  const std::string directory = LayeredDirectoryOf(boot_disk, path);
  if (directory.empty()) return boot_disk / kChanges / Path(path).relative_path();
  return LayerOf(boot_disk, directory) / Path(path.substr(directory.size())).relative_path();
}

std::vector<std::string> LayeredDirectories(const Path& boot_disk) {
  std::vector<std::string> directories;
  std::error_code error;
  for (std::filesystem::directory_iterator layer(boot_disk / kLayers, error), end;
       !error && layer != end; layer.increment(error)) {
    const auto name = PercentDecoded(layer->path().filename().string());
    if (name) directories.push_back("/" + *name);
  }
  std::ranges::sort(directories);
  return directories;
}

void CopyAccess(const Path& of_host, const Path& upper) {
  constexpr mode_t kModeOfNew = 0755;
  struct stat status {};
  const bool is_there = ::stat(of_host.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  if (is_there && ::geteuid() == 0) {
    [[maybe_unused]] const int changed = ::chown(upper.c_str(), status.st_uid, status.st_gid);
  }
  // caip itself makes files in it, and deletes them
  const mode_t mode = is_there ? (status.st_mode & 07777u) | S_IRWXU : kModeOfNew;
  ::chmod(upper.c_str(), mode);
}

// The layer has nothing of the directories above its own.
Status MakeUpper(const Path& boot_disk, const std::string& path) {
  const std::string layered = LayeredDirectoryOf(boot_disk, path);
  Path walked = "/";
  for (const Path& part : Path(path).relative_path()) {
    walked /= part;
    if (IsBelow(layered, walked.string())) continue;
    const Path upper = UpperOf(boot_disk, walked.string());
    std::error_code error;
    const auto status = std::filesystem::symlink_status(upper, error);
    if (std::filesystem::is_directory(status)) continue;
    if (std::filesystem::exists(status)) return Ok{};
    RETURN_IF_ERROR(MakeDirectories(upper));
    CopyAccess(walked, upper);
  }
  return Ok{};
}

namespace {

// Whether the disk has it, and no link is on the way there.
bool IsOfDisk(const Path& boot_disk, const Path& path) {
  const Path named = path.has_filename() ? path : path.parent_path();
  std::error_code error;
  const Path real = std::filesystem::canonical(named, error);
  if (error) return false;
  const Path disk = std::filesystem::canonical(boot_disk, error);
  return !error && real == disk / named.lexically_relative(boot_disk);
}

}  // namespace

bool IsDirectoryOfDisk(const Path& boot_disk, const Path& path) {
  return IsOfDisk(boot_disk, path) && HostHasDirectory(path);
}

namespace {

Status MakeLayer(const Path& boot_disk, const std::string& directory) {
  const Path layer = LayerOf(boot_disk, directory);
  if (HostHas(layer)) return Ok{};
  const Path earlier = UpperOf(boot_disk, directory);
  std::error_code error;
  if (IsDirectoryOfDisk(boot_disk, earlier)) {
    std::filesystem::rename(earlier, layer, error);
    if (!error) return Ok{};
  }
  RETURN_IF_ERROR(MakeDirectories(layer));
  CopyAccess(directory, layer);
  return Ok{};
}

}  // namespace

Status MakeLayers(const Path& boot_disk, const RootParts& parts) {
  RETURN_IF_ERROR(MakeDirectories(boot_disk / kLayers));
  RETURN_IF_ERROR(MakeDirectories(boot_disk / kBaseWork));
  for (const std::string& directory : parts.layers) {
    RETURN_IF_ERROR(MakeLayer(boot_disk, directory));
    RETURN_IF_ERROR(MakeDirectories(boot_disk / kWork / LayerName(directory)));
  }
  return Ok{};
}

void AddKeptLayers(const std::vector<std::string>& kept, RootParts& parts) {
  for (const std::string& layer : kept) {
    const bool is_split = std::ranges::any_of(
        parts.directories, [&](const auto& directory) { return directory.place == layer; });
    if (is_split || std::ranges::find(parts.layers, layer) != parts.layers.end()) continue;
    std::erase(parts.bound, layer);
    parts.layers.push_back(layer);
  }
  std::ranges::sort(parts.layers);
}

Status RenewWork(const Path& boot_disk) {
  RETURN_IF_ERROR(EnsureRemoved(boot_disk / kWork));
  RETURN_IF_ERROR(MakeDirectories(boot_disk / kWork));
  if (!HasLayers(boot_disk)) return Ok{};
  RETURN_IF_ERROR(EnsureRemoved(boot_disk / kBaseWork));
  RETURN_IF_ERROR(MakeDirectories(boot_disk / kBaseWork));
  std::error_code error;
  for (std::filesystem::directory_iterator layer(boot_disk / kLayers, error), end;
       !error && layer != end; layer.increment(error)) {
    RETURN_IF_ERROR(MakeDirectories(boot_disk / kWork / layer->path().filename()));
  }
  return Ok{};
}

namespace {

// The places of the machine in its layers cover those of directories that have no overlay.
void AddOwnPlaces(const RootParts& parts, const Path& boot_disk, launcher::Machine& machine) {
  for (const std::string& place : parts.own) {
    if (!IsInLayer(boot_disk, place)) continue;
    const Path upper = UpperOf(boot_disk, place);
    std::error_code error;
    const auto type = std::filesystem::symlink_status(upper, error).type();
    const bool is_there = type == std::filesystem::file_type::directory ||
                          type == std::filesystem::file_type::regular;
    if (!is_there || !IsOfDisk(boot_disk, upper)) continue;
    machine.mounts.push_back({MountKind::kBind, upper.string(), place, kMountIfReadOnly});
  }
}

void AddShown(const RootParts& parts, const char* attributes, launcher::Machine& machine) {
  const auto bind = [&](const std::string& place) {
    machine.mounts.push_back({MountKind::kBind, place, place, kMountAside | kMountOptional});
  };
  for (const auto& [directory, directories, files] : parts.shown) {
    const uint32_t flags = kMountAside | kMountReadOnly | kMountIfOnHost | kMountOrShow;
    machine.mounts.push_back({MountKind::kFileSystem, "overlay", directory, flags,
                              ReadOnlyOverlayOptions(directory) + attributes});
    for (const std::string& place : directories) bind(place);
    for (const std::string& place : files) bind(place);
  }
}

}  // namespace

void AddLayers(const RootParts& parts, const Path& boot_disk, launcher::Machine& machine) {
  const bool has_rights = HadRights(boot_disk);
  const char* const attributes = has_rights ? "" : kUserAttributes;
  const char* const work_of_base = HasLayers(boot_disk) ? kBaseWork : kWork;
  machine.base = has_rights
                     ? OverlayOptions(launcher::kPlacesLayer, "/", kChanges, work_of_base)
                     : OverlayOptions(launcher::kPlacesLayer, kChanges, work_of_base) + attributes;
  for (const std::string& directory : parts.layers) {
    const Path upper = LayerOf(boot_disk, directory);
    const Path work = boot_disk / kWork / LayerName(directory);
    const bool has_own = std::ranges::any_of(
        parts.with_own, [&](const std::string& place) { return IsBelow(directory, place); });
    const uint32_t flags = kMountDevices | kMountIfOnHost | (has_own ? kMountOrShow : 0);
    machine.mounts.push_back({MountKind::kFileSystem, "overlay", directory, flags,
                              OverlayOptions(directory, upper, work) + attributes});
  }
  AddOwnPlaces(parts, boot_disk, machine);
  AddShown(parts, attributes, machine);
  const auto bind = [&](const std::string& place) {
    machine.mounts.push_back({MountKind::kBind, place, place, kMountReadOnly | kMountOptional});
  };
  for (const std::string& directory : parts.bound) bind(directory);
  for (const std::string& file : parts.files) bind(file);
}

// Parents come before what is below them, because an existing place is not made again.
std::vector<MachineMount> PlacesOfLayers(const RootParts& parts,
                                         const std::vector<MachineMount>& others) {
  std::vector<MachineMount> places;
  const auto add_directory = [&](const std::string& place, const std::string& mode) {
    places.push_back({MountKind::kDirectory, "", place, 0, mode});
  };
  for (const auto& [place, mode] : parts.directories) add_directory(place, mode);
  for (const auto& [place, target] : parts.links) {
    places.push_back({MountKind::kLink, target, place});
  }
  for (const std::string& directory : parts.layers) add_directory(directory, "755");
  for (const std::string& directory : parts.bound) add_directory(directory, "755");
  for (const std::string& file : parts.files) places.push_back({MountKind::kFile, "", file});
  for (const auto& [parent, directories, files] : parts.shown) {
    for (const std::string& directory : directories) add_directory(directory, "755");
    for (const std::string& file : files) places.push_back({MountKind::kFile, "", file});
  }
  const bool splits_home = std::ranges::any_of(
      parts.directories, [](const auto& directory) { return directory.place == kHome; });
  for (const MachineMount& mount : others) {
    const bool is_bind = mount.kind == MountKind::kBind;
    const bool is_in_home = splits_home && IsBelow(mount.target, kHome);
    const bool is_in_layer = (IsInEmptyDirectory(mount.target) && !is_in_home) ||
                             std::ranges::any_of(parts.layers, [&](const std::string& layer) {
                               return IsBelow(mount.target, layer);
                             });
    if (is_in_layer || mount.flags & kMountIfThere) continue;
    if (mount.kind == MountKind::kFileSystem || (is_bind && HostHasDirectory(mount.source))) {
      add_directory(mount.target, "755");
    } else if (is_bind && HostHas(mount.source)) {
      places.push_back({MountKind::kFile, "", mount.target});
    }
  }
  return places;
}

}  // namespace caip::host
