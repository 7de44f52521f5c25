#include "host/machine/machine_files.h"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <utility>

#include "base/encoding.h"
#include "base/text.h"
#include "host/errors.h"
#include "host/machine/closed_directories.h"
#include "host/machine/closed_files.h"
#include "host/machine/device_mounts.h"
#include "host/machine/host_tree.h"
#include "host/machine/layered_root.h"
#include "host/machine/machine_places.h"
#include "host/machine/machine_volumes.h"
#include "host/machine/named_paths.h"
#include "host/machine/other_users.h"
#include "host/machine/overlays.h"
#include "host/machine/own_files.h"

namespace caip::host {
namespace {

using launcher::kMountOptional;
using launcher::kMountOrBind;
using launcher::kMountReadOnly;
using launcher::MachineMount;
using launcher::MountKind;

constexpr char kRoot[] = "root";
constexpr char kImage[] = "image";  // links to the layers of an image, by number

// Without the links of this host that lead there.
std::string RealPlaceOf(const Path& path) {
  std::error_code error;
  const Path real = std::filesystem::weakly_canonical(path, error);
  return error ? path.string() : real.string();
}

// Relative to the boot disk. The first layer is the highest one.
std::string ImageOverlay(const Path& boot_disk, size_t layers) {
  std::string options = "lowerdir=";
  for (size_t i = layers; i > 0; --i) {
    options += std::string(kImage) + "/" + std::to_string(i - 1) + (i > 1 ? ":" : "");
  }
  options += ",upperdir=" + std::string(kChanges) + ",workdir=" + kWork;
  return options + (HasRights(boot_disk) ? "" : ",userxattr");
}

// A user without rights over the host cannot make a directory in one of the host's that belongs to
// others: the overlay would have to copy that one, with its owner.
Status MakePlacesOfVolumes(const engine::ReplicaLaunch& launch, const Path& boot_disk) {
  for (const engine::Volume& volume : launch.volumes) {
    if (HostHas(volume.shown)) continue;
    RETURN_IF_ERROR(MakeUpper(boot_disk, RealPlaceOf(volume.shown)));
  }
  return Ok{};
}

bool SeesHome(const engine::ReplicaLaunch& launch) { return launch.sees_home && MayReadHome(); }

// Settings of the host's kernel in /proc, and those of the machine's own network. Root may change
// them without any capability. Other users may not, whatever user they are on the machine.
void AddHostSettings(std::vector<MachineMount>& mounts) {
  for (const char* place : {"/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi",
                            "/proc/scsi", "/proc/sysrq-trigger"}) {
    mounts.push_back({MountKind::kOverItself, "", place, kMountReadOnly | kMountOptional});
  }
  mounts.push_back({MountKind::kOverItself, "", "/proc/sys/net", kMountOptional});
}

}  // namespace

std::vector<MachineMount> BaseMounts() {
  std::vector<MachineMount> mounts = {
      {MountKind::kFileSystem, "proc", "/proc"},
      {MountKind::kFileSystem, "sysfs", "/sys", kMountReadOnly | kMountOrBind | kMountOptional}};
  if (::geteuid() == 0) AddHostSettings(mounts);
  return mounts;
}

Path MachineFiles::OnHost(const Path& boot_disk, const std::string& path) const {
  if (IsBelow(path, (state_ / "buckets").string())) return path;
  if (const Path live = LiveOf(boot_disk, path); HostHas(live)) return live / Path(path).filename();
  return UpperOf(boot_disk, path);
}

bool MachineFiles::IsOfState(const std::string& path) const {
  return std::ranges::any_of(states_,
                             [&](const Path& state) { return IsBelow(path, state.string()); });
}

bool MachineFiles::IsHidden(const std::string& path, const engine::ReplicaLaunch& launch) const {
  if (IsOfState(path)) return true;
  const bool sees_home = SeesHome(launch);
  if (IsInEmptyDirectory(path)) return !(sees_home && IsBelow(path, kHome));
  return std::ranges::any_of(empty_, [&](const EmptyDirectory& directory) {
    return IsBelow(path, directory.place) && !(sees_home && directory.name == kHome);
  });
}

Result<HostView> MachineFiles::Prepare(const Path& boot_disk,
                                       const engine::ReplicaLaunch& launch) const {
  HostView host{HostMounts(), {}};
  if (launch.image) {
    RETURN_IF_ERROR(PrepareImage(boot_disk, launch));
    return host;
  }
  const bool is_kept = HostHas(boot_disk / kChanges);
  if (is_kept) RETURN_IF_ERROR(RenewWork(boot_disk));
  for (const char* directory : {kChanges, kWork, kRoot}) {
    RETURN_IF_ERROR(MakeDirectories(boot_disk / directory));
  }
  if (!is_kept) CopyAccess("/", boot_disk / kChanges);
  const bool has_rights = is_kept ? HadRights(boot_disk) : HasRights(boot_disk);
  host.parts = PartsOf(boot_disk, host.mounts, launch);
  if (!has_rights || !host.parts.layers.empty()) {
    RETURN_IF_ERROR(MakeLayers(boot_disk, host.parts));
  }
  if (!is_kept && !host.parts.with_own.empty()) {
    RETURN_IF_ERROR(NoteOwnPlaces(boot_disk, host.parts.own));
  }
  if (HasLayers(boot_disk)) RETURN_IF_ERROR(PrepareLayers(boot_disk, launch, is_kept));
  RETURN_IF_ERROR(PrepareVolumes(launch, boot_disk));
  if (launch.metrics) RETURN_IF_ERROR(MakeLive(boot_disk, launch.metrics->file));
  if (!Path(launch.working_directory).is_absolute()) {  // else the host's, or a volume
    RETURN_IF_ERROR(MakeUpper(boot_disk, "/" + launch.working_directory));
  }
  return host;
}

// The overlay of a layer covers the places in memory (machine_places.h), so they are in the layer.
// MachineFiles::AddTo hides the state directory there.
Status MachineFiles::PrepareLayers(const Path& boot_disk, const engine::ReplicaLaunch& launch,
                                   bool is_kept) const {
  for (const EmptyDirectory& directory : empty_) {
    if (directory.name == kHome && SeesHome(launch)) continue;
    if (!IsInLayer(boot_disk, directory.place)) continue;
    RETURN_IF_ERROR(MakeEmptyDirectory(boot_disk, directory, is_kept));
  }
  if (!HadRights(boot_disk)) RETURN_IF_ERROR(PrepareForUser(boot_disk, launch));
  RETURN_IF_ERROR(WriteHostName(launch, boot_disk, is_kept));
  for (const std::string& directory : launch.user_directories) {
    const std::string place = RealPlaceOf("/" + directory);
    if (IsInLayer(boot_disk, place)) RETURN_IF_ERROR(MakeUpper(boot_disk, place));
  }
  return Ok{};
}

Status MachineFiles::PrepareForUser(const Path& boot_disk,
                                    const engine::ReplicaLaunch& launch) const {
  for (const Path& state : states_) {
    const bool is_in_home = SeesHome(launch) && IsBelow(state.string(), kHome);
    if (!is_in_home && IsInEmptyDirectory(state.string())) continue;
    RETURN_IF_ERROR(MakeUpper(boot_disk, state.string()));
    const Path upper = UpperOf(boot_disk, state.string());
    if (IsDirectoryOfDisk(boot_disk, upper)) RETURN_IF_ERROR(MakeOpaque(upper));
  }
  return MakePlacesOfVolumes(launch, boot_disk);
}

// The kernel takes 4 KiB of options at most, so the layers get short names.
Status MachineFiles::PrepareImage(const Path& boot_disk,
                                  const engine::ReplicaLaunch& launch) const {
  RETURN_IF_ERROR(RenewWork(boot_disk));
  for (const char* directory : {kChanges, kWork, kRoot}) {
    RETURN_IF_ERROR(MakeDirectories(boot_disk / directory));
  }
  RETURN_IF_ERROR(PrepareVolumes(launch, boot_disk));
  if (launch.metrics) RETURN_IF_ERROR(MakeLive(boot_disk, launch.metrics->file));
  RETURN_IF_ERROR(EnsureRemoved(boot_disk / kImage));
  RETURN_IF_ERROR(MakeDirectories(boot_disk / kImage));
  for (size_t i = 0; i < launch.image->layers.size(); ++i) {
    const Path link = boot_disk / kImage / std::to_string(i);
    std::error_code error;
    std::filesystem::create_directory_symlink(launch.image->layers[i], link, error);
    if (error) return errors::CannotShowLayer(link, error.value());
  }
  return Ok{};
}

// A volume at a directory of the host needs no place of its own.
std::vector<std::string> MachineFiles::OwnPlaces(const engine::ReplicaLaunch& launch) const {
  std::vector<std::string> places = {kHostNameFile};
  for (const Path& state : states_) places.push_back(RealPlaceOf(state));
  for (const engine::Volume& volume : launch.volumes) {
    if (!HostHas(volume.shown)) places.push_back(RealPlaceOf(volume.shown));
  }
  return places;
}

// The directories that this host does not have, and those that it has and the machine hides.
OwnFiles MachineFiles::OwnFilesOf(const Path& boot_disk,
                                  const engine::ReplicaLaunch& launch) const {
  OwnFiles own{{kHostNameFile}, SeesHome(launch), LayeredDirectories(boot_disk)};
  for (const auto& [name, place] : empty_) {
    if (IsHidden(std::string(name), launch)) own.places.push_back(place);
  }
  std::vector<Path> missing;
  for (const std::string& directory : launch.user_directories) {
    missing.push_back((Path("/") / directory).lexically_normal());
  }
  for (const engine::Volume& volume : launch.volumes) missing.emplace_back(volume.shown);
  if (launch.metrics) missing.push_back(Path(launch.metrics->file).parent_path());
  for (const Path& directory : missing) {
    if (HostHas(directory) || IsHidden(directory.string(), launch)) continue;
    own.places.push_back(RealPlaceOf(directory));
  }
  for (std::string& place : NotedOwnPlaces(boot_disk)) {
    if (std::ranges::find(own.places, place) == own.places.end()) own.places.push_back(place);
  }
  return own;
}

RootParts MachineFiles::PartsOf(const Path& boot_disk, const std::vector<HostMount>& mounts,
                                const engine::ReplicaLaunch& launch) const {
  const OwnFiles own = OwnFilesOf(boot_disk, launch);
  const std::vector<std::string> with_own = MountsWithOwn(mounts, own);
  RootParts parts;
  if (HadRights(boot_disk)) {
    parts.layers = with_own;
    AddKeptLayers(own.layers, parts);
    parts.with_own = parts.layers;
  } else {
    OwnFiles all = own;
    std::ranges::copy(OwnPlaces(launch), std::back_inserter(all.places));
    std::vector<std::string> used = launch.user_directories;
    used.push_back(launch.working_directory);
    for (std::string& directory : used) directory = RealPlaceOf(Path("/") / directory);
    all.is_on_disk = [&boot_disk, used](const std::string& place) {
      const auto is_below = [&](const std::string& directory) { return IsBelow(directory, place); };
      return std::ranges::any_of(used, is_below) || IsLeft(UpperOf(boot_disk, place));
    };
    parts = PartsOfRoot("/", mounts, all, with_own);
    AddKeptLayers(own.layers, parts);
    parts.with_own = with_own;
  }
  parts.own = own.places;
  return parts;
}

void MachineFiles::AddTo(launcher::Machine& machine, const Path& boot_disk, const HostView& host,
                         const engine::ReplicaLaunch& launch) const {
  const auto& [mounts, parts] = host;
  if (launch.image) return AddImageTo(machine, boot_disk, mounts, launch);
  std::vector<MachineMount> own = std::move(machine.mounts);
  machine.mounts.clear();
  machine.root = (boot_disk / kRoot).string();
  AddLayers(parts, boot_disk, machine);
  const size_t of_parts = machine.mounts.size();
  AddSharedMounts(mounts, boot_disk, launch, parts, machine.mounts);
  for (MachineMount& mount : own) machine.mounts.push_back(std::move(mount));
  for (MachineMount& mount : DeviceMounts(launch)) machine.mounts.push_back(std::move(mount));
  AddMetrics(machine, boot_disk, launch);
  AddNamedAndVolumes(machine, boot_disk, launch, mounts);
  if (HadRights(boot_disk)) {
    machine.places = PlacesOf(launch, states_, machine.mounts,
                              [&](const std::string& path) { return IsHidden(path, launch); });
  } else {
    const auto first = machine.mounts.begin() + static_cast<std::ptrdiff_t>(of_parts);
    machine.places = PlacesOfLayers(parts, {first, machine.mounts.end()});
    AddPlacesOfUser(boot_disk, launch, machine.places);
  }
  AddHostName(launch, boot_disk, machine.places);
}

void MachineFiles::AddPlacesOfUser(const Path& boot_disk, const engine::ReplicaLaunch& launch,
                                   std::vector<MachineMount>& places) const {
  const auto add = [&](const std::string& place, const char* mode) {
    if (IsInLayer(boot_disk, place)) return;
    places.push_back({MountKind::kDirectory, "", place, 0, mode});
  };
  for (const auto& [name, place] : empty_) {
    if (name != kHome || !SeesHome(launch)) add(place, ModeOfEmptyDirectory(name));
  }
  for (const std::string& directory : launch.user_directories) {
    add(RealPlaceOf("/" + directory), "755");
  }
}

// One of them may have the state directory in it, and others may be mounted on its files that a
// machine has for itself.
void MachineFiles::AddSharedMounts(const std::vector<HostMount>& mounts, const Path& boot_disk,
                                   const engine::ReplicaLaunch& launch, const RootParts& parts,
                                   std::vector<MachineMount>& out) const {
  const OwnFiles own = OwnFilesOf(boot_disk, launch);
  for (const std::string& place : parts.with_own) HideStates(place, place, mounts, out);
  for (const std::string& place : SharedMounts(mounts, own)) {
    if (IsHidden(place, launch) || place == kHostNameFile) continue;
    out.push_back({MountKind::kBind, place, place, kMountReadOnly | kMountOptional});
    HideStates(place, place, mounts, out);
  }
}

void MachineFiles::HideStates(const std::string& directory, const std::string& shown,
                              const std::vector<HostMount>& mounts,
                              std::vector<MachineMount>& out) const {
  for (const Path& state : states_) HideState(state, directory, shown, mounts, out);
}

// Nothing of the host's files but what the launch names of the state directory.
void MachineFiles::AddImageTo(launcher::Machine& machine, const Path& boot_disk,
                              const std::vector<HostMount>& mounts,
                              const engine::ReplicaLaunch& launch) const {
  machine.root = (boot_disk / kRoot).string();
  machine.base = ImageOverlay(boot_disk, launch.image->layers.size());
  machine.user = launch.image->user;
  machine.group = launch.image->group;
  machine.groups = launch.image->groups;
  machine.groups.insert(machine.groups.begin(), machine.group);
  machine.maps_user = machine.user != 0 && !MayBecome(machine.user, machine.group);
  for (MachineMount& mount : DeviceMounts(launch)) machine.mounts.push_back(std::move(mount));
  for (const std::string& directory : launch.user_directories) {
    const char* mode = directory == "tmp" ? "1777" : "755";
    machine.mounts.push_back({MountKind::kDirectory, "", "/" + directory, 0, mode});
  }
  const Path working = Path("/") / launch.working_directory;
  machine.mounts.push_back({MountKind::kDirectory, "", working.string(), 0, "755"});
  AddMetrics(machine, boot_disk, launch);
  AddNamedAndVolumes(machine, boot_disk, launch, mounts);
}

// A user of the image writes the metric, too.
void MachineFiles::AddMetrics(launcher::Machine& machine, const Path& boot_disk,
                              const engine::ReplicaLaunch& launch) const {
  if (!launch.metrics) return;
  const Path live = LiveOf(boot_disk, launch.metrics->file);
  if (machine.user != 0) ::chmod(live.c_str(), 01777);
  machine.mounts.push_back(
      {MountKind::kBind, live.string(), Path(launch.metrics->file).parent_path().string()});
}

// A volume may have the state directory in it and hides that. So what is named of the state comes
// after the volumes, and all else, which may have a volume below it, before them.
void MachineFiles::AddNamedAndVolumes(launcher::Machine& machine, const Path& boot_disk,
                                      const engine::ReplicaLaunch& launch,
                                      const std::vector<HostMount>& mounts) const {
  NamedFiles elsewhere;
  NamedFiles of_state;
  for (const auto& [place, file] : NamedFilesOf(launch, mounts)) {
    (IsOfState(place) ? of_state : elsewhere).emplace(place, file);
  }
  AddNamed(elsewhere, mounts, machine);
  AddVolumes(launch, boot_disk, {state_, states_, mounts}, machine.mounts);
  if (!of_state.empty()) OpenWayTo(state_.string(), launch, machine);
  AddNamed(of_state, mounts, machine);
}

// A link in a hidden directory may lead to a closed file.
MachineFiles::NamedFiles MachineFiles::NamedFilesOf(const engine::ReplicaLaunch& launch,
                                                    const std::vector<HostMount>& mounts) const {
  const std::string buckets = (state_ / "buckets").string();
  const ClosedFiles closed(state_, states_, mounts);
  NamedFiles files;
  for (std::string path : NamedPaths(launch, buckets)) {
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    const bool is_empty_directory =
        std::find(std::begin(kEmptyDirectories), std::end(kEmptyDirectories), path) !=
        std::end(kEmptyDirectories);
    const bool is_hidden = launch.image ? IsBelow(path, state_.string()) : IsHidden(path, launch);
    if (!is_hidden || is_empty_directory) continue;
    const std::string place = IsBelow(path, buckets) ? buckets : path;
    if (files.contains(place) || closed.Has(place)) continue;
    std::string file = FollowLinks(place);
    if (!closed.Has(file)) files.emplace(place, std::move(file));
  }
  return files;
}

// Binds directories and files of the host. The state directory below one of them stays hidden.
void MachineFiles::AddNamed(const NamedFiles& files, const std::vector<HostMount>& mounts,
                            launcher::Machine& machine) const {
  const std::string buckets = (state_ / "buckets").string();
  std::string last;
  for (const auto& [place, file] : files) {
    const bool is_covered = std::ranges::any_of(states_, [&, &named = place](const Path& state) {
      return IsBelow(state.string(), last) && IsBelow(named, state.string());
    });
    if (!last.empty() && IsBelow(place, last) && !is_covered) continue;
    last = place;
    const uint32_t flags = place == buckets ? 0 : kMountReadOnly;
    machine.mounts.push_back({MountKind::kBind, file, place, flags});
    if (place == buckets) HideWorkOfStorage(buckets, machine.mounts);
    HideStates(file, place, mounts, machine.mounts);
  }
}

}  // namespace caip::host
