#include "host/machine/machine_files.h"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <iterator>
#include <set>
#include <utility>

#include "base/encoding.h"
#include "base/text.h"
#include "host/errors.h"
#include "host/machine/closed_directories.h"
#include "host/machine/device_mounts.h"
#include "host/machine/host_tree.h"
#include "host/machine/layered_root.h"
#include "host/machine/machine_places.h"
#include "host/machine/machine_volumes.h"
#include "host/machine/other_users.h"
#include "host/machine/overlays.h"

namespace caip::host {
namespace {

using launcher::kMountDevices;
using launcher::kMountOptional;
using launcher::kMountOrBind;
using launcher::kMountReadOnly;
using launcher::MachineMount;
using launcher::MountKind;

constexpr char kRoot[] = "root";
constexpr char kLive[] = "live";
constexpr char kImage[] = "image";  // links to the layers of an image, by number

// The directory of this host in whose place a machine has the directory of `file`. The kernel does
// not report writes below an overlay to those who watch its upper layer.
Path LiveOf(const Path& boot_disk, const std::string& file) {
  return boot_disk / kLive / PercentEncoded(Path(file).parent_path().string());
}

bool IsHere(const Path& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
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

// The directory of a file's siblings: a script may import them. A program of ".../bin" needs what
// is beside that directory.
Path SurroundingsOf(const Path& file) {
  const Path directory = file.parent_path();
  return directory.filename() == "bin" ? directory.parent_path() : directory;
}

// A script may import what is elsewhere in its repository.
Path RepositoryOf(const Path& directory) {
  for (Path at = directory; at.has_relative_path(); at = at.parent_path()) {
    if (IsHere(at / ".git")) return at;
  }
  return directory;
}

// A user without rights over the host cannot make a directory in one of the host's that belongs to
// others: the overlay would have to copy that one, with its owner.
Status MakePlacesOfVolumes(const engine::ReplicaLaunch& launch, const Path& boot_disk) {
  for (const engine::Volume& volume : launch.volumes) {
    if (IsHere(volume.shown)) continue;
    std::error_code error;
    const Path real = std::filesystem::weakly_canonical(volume.shown, error);
    RETURN_IF_ERROR(MakeDirectories(UpperOf(boot_disk, error ? volume.shown : real.string())));
  }
  return Ok{};
}

// A user without rights over the host cannot read the home directory of root.
bool SeesHome(const engine::ReplicaLaunch& launch) { return launch.sees_home && ::geteuid() == 0; }

// The machine's own file, which it may change. Where an overlay has all of /etc, the boot disk has
// it, else the layer in memory.
bool HasHostNameOnDisk(const Path& boot_disk) { return IsHere(LayerOf(boot_disk, "/etc")); }

Status WriteHostName(const engine::ReplicaLaunch& launch, const Path& boot_disk) {
  const std::string& name = launch.machine.host_name;
  if (name.empty() || !HasHostNameOnDisk(boot_disk)) return Ok{};
  return WriteFile(UpperOf(boot_disk, kHostNameFile), name + "\n");
}

void AddHostName(const engine::ReplicaLaunch& launch, const Path& boot_disk,
                 std::vector<MachineMount>& places) {
  const std::string& name = launch.machine.host_name;
  if (name.empty() || HasHostNameOnDisk(boot_disk)) return;
  places.push_back({MountKind::kDirectory, "", "/etc", 0, "755"});
  places.push_back({MountKind::kFile, "", kHostNameFile, 0, name + "\n"});
}

// Settings of the host's kernel in /proc, and those of the machine's own network. Root may change
// them without any capability. Other users may not, whatever user they are on the machine.
void AddHostSettings(std::vector<MachineMount>& mounts) {
  for (const char* place : {"/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi",
                            "/proc/scsi", "/proc/sysrq-trigger"}) {
    mounts.push_back({MountKind::kOverItself, "", place, kMountReadOnly | kMountOptional});
  }
  mounts.push_back({MountKind::kOverItself, "", "/proc/sys/net", kMountOptional});
}

// Where paths may begin in a word or in the value of a variable: "--data=/path", "/bin:/usr/bin".
std::vector<size_t> PathStarts(std::string_view text) {
  std::vector<size_t> starts;
  for (size_t part = 0; part != text.npos;) {
    const size_t end = text.find(':', part);
    const size_t equals = text.substr(0, end).find("=/", part);
    if (text.substr(part).starts_with('/')) {
      starts.push_back(part);
    } else if (equals != text.npos) {
      starts.push_back(equals + 1);
    }
    part = end == text.npos ? end : end + 1;
  }
  return starts;
}

constexpr int kColonsOfAPath = 8;
// A path may have a few colons, and colons separate paths. What does not exist is dropped later.
void AddPaths(std::string_view text, std::vector<std::string>& paths) {
  const int colons_max = text.size() < PATH_MAX ? kColonsOfAPath : 0;  // long lists have many parts
  for (const size_t start : PathStarts(text)) {
    size_t end = text.find(':', start);
    paths.emplace_back(text.substr(start, end - start));
    for (int colons = 0; end != text.npos && colons < colons_max; ++colons) {
      end = text.find(':', end + 1);
      paths.emplace_back(text.substr(start, end - start));
    }
  }
}

}  // namespace

std::vector<MachineMount> BaseMounts() {
  std::vector<MachineMount> mounts = {
      {MountKind::kFileSystem, "proc", "/proc"},
      {MountKind::kFileSystem, "sysfs", "/sys", kMountReadOnly | kMountOrBind | kMountOptional}};
  if (::geteuid() == 0) AddHostSettings(mounts);
  return mounts;
}

bool IsSecretOfState(const std::string& path, const std::string& state) {
  const std::string authority = state + "/ca";
  return IsBelow(path, state + "/keys") || path == authority ||
         (IsBelow(path, authority) && !path.ends_with(".pem"));
}

Path MachineFiles::OnHost(const Path& boot_disk, const std::string& path) const {
  if (IsBelow(path, (state_ / "buckets").string())) return path;
  if (const Path live = LiveOf(boot_disk, path); IsHere(live)) return live / Path(path).filename();
  return UpperOf(boot_disk, path);
}

bool MachineFiles::IsHidden(const std::string& path, const engine::ReplicaLaunch& launch) const {
  if (IsBelow(path, state_.string())) return true;
  return IsInEmptyDirectory(path) && !(SeesHome(launch) && IsBelow(path, kHome));
}

Status MachineFiles::Prepare(const Path& boot_disk, const engine::ReplicaLaunch& launch) const {
  if (launch.image) return PrepareImage(boot_disk, launch);
  const Path changes = boot_disk / kChanges;
  const bool is_kept = IsHere(changes);
  if (is_kept) RETURN_IF_ERROR(RenewWork(boot_disk));
  for (const char* directory : {kChanges, kWork, kRoot}) {
    RETURN_IF_ERROR(MakeDirectories(boot_disk / directory));
  }
  if (!is_kept && !HasRights(boot_disk)) {
    RETURN_IF_ERROR(MakeLayers(boot_disk, PartsOfRoot("/", HostMounts(), OwnPlaces(launch))));
  }
  if (HasLayers(boot_disk)) RETURN_IF_ERROR(PrepareLayers(boot_disk, launch, is_kept));
  RETURN_IF_ERROR(PrepareVolumes(launch, boot_disk));
  if (launch.metrics) RETURN_IF_ERROR(MakeDirectories(LiveOf(boot_disk, launch.metrics->file)));
  if (Path(launch.working_directory).is_absolute()) return Ok{};  // the host's, or a volume
  return MakeDirectories(UpperOf(boot_disk, "/" + launch.working_directory));
}

// The places of a user without rights over the host are in the upper layers (machine_places.h).
Status MachineFiles::PrepareLayers(const Path& boot_disk, const engine::ReplicaLaunch& launch,
                                   bool is_kept) const {
  for (const std::string_view directory : kEmptyDirectories) {
    if (directory == kHome && SeesHome(launch)) continue;
    const Path place = UpperOf(boot_disk, std::string(directory));
    if (is_kept && IsHere(place)) continue;
    RETURN_IF_ERROR(MakeOpaque(place));
    if (directory.ends_with("tmp")) ::chmod(place.c_str(), 01777);
  }
  const bool is_in_home = SeesHome(launch) && IsBelow(state_.string(), kHome);
  if (is_in_home || !IsInEmptyDirectory(state_.string())) {
    RETURN_IF_ERROR(MakeOpaque(UpperOf(boot_disk, state_.string())));
  }
  RETURN_IF_ERROR(MakePlacesOfVolumes(launch, boot_disk));
  if (!is_kept) RETURN_IF_ERROR(WriteHostName(launch, boot_disk));
  for (const std::string& directory : launch.user_directories) {
    RETURN_IF_ERROR(MakeDirectories(UpperOf(boot_disk, "/" + directory)));
  }
  return Ok{};
}

// The kernel takes 4 KiB of options at most, so the layers get short names.
Status MachineFiles::PrepareImage(const Path& boot_disk,
                                  const engine::ReplicaLaunch& launch) const {
  RETURN_IF_ERROR(RenewWork(boot_disk));
  for (const char* directory : {kChanges, kWork, kRoot}) {
    RETURN_IF_ERROR(MakeDirectories(boot_disk / directory));
  }
  RETURN_IF_ERROR(PrepareVolumes(launch, boot_disk));
  if (launch.metrics) RETURN_IF_ERROR(MakeDirectories(LiveOf(boot_disk, launch.metrics->file)));
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
  std::error_code error;
  std::vector<std::string> places = {std::filesystem::weakly_canonical(state_, error).string(),
                                     kHostNameFile};
  for (const engine::Volume& volume : launch.volumes) {
    if (IsHere(volume.shown)) continue;
    places.push_back(std::filesystem::weakly_canonical(volume.shown, error).string());
  }
  return places;
}

void MachineFiles::AddTo(launcher::Machine& machine, const Path& boot_disk,
                         const engine::ReplicaLaunch& launch) const {
  if (launch.image) return AddImageTo(machine, boot_disk, launch);
  const std::vector<HostMount> mounts = HostMounts();
  std::vector<MachineMount> own = std::move(machine.mounts);
  machine.mounts.clear();
  machine.root = (boot_disk / kRoot).string();
  const bool has_layers = HasLayers(boot_disk);
  const RootParts parts = has_layers ? PartsOfRoot("/", mounts, OwnPlaces(launch)) : RootParts();
  if (has_layers) {
    AddLayers(parts, boot_disk, machine);
  } else {
    machine.base = OverlayOptions(launcher::kPlacesLayer, "/", kChanges, kWork);
  }
  const size_t of_parts = machine.mounts.size();
  AddSharedMounts(mounts, launch, machine.mounts);
  for (MachineMount& mount : own) machine.mounts.push_back(std::move(mount));
  for (MachineMount& mount : DeviceMounts(launch)) machine.mounts.push_back(std::move(mount));
  AddMetrics(machine, boot_disk, launch);
  AddNamedAndVolumes(machine, boot_disk, launch);
  if (has_layers) {
    const auto first = machine.mounts.begin() + static_cast<std::ptrdiff_t>(of_parts);
    machine.places = PlacesOfLayers(parts, {first, machine.mounts.end()});
  } else {
    machine.places = PlacesOf(launch, state_, machine.mounts,
                              [&](const std::string& path) { return IsHidden(path, launch); });
  }
  AddHostName(launch, boot_disk, machine.places);
}

// One of them may have the state directory in it, and others may be mounted on its files that a
// machine has for itself.
void MachineFiles::AddSharedMounts(const std::vector<HostMount>& mounts,
                                   const engine::ReplicaLaunch& launch,
                                   std::vector<MachineMount>& out) const {
  for (const std::string& place : SharedMounts(mounts)) {
    if (IsHidden(place, launch) || place == kHostNameFile) continue;
    out.push_back({MountKind::kBind, place, place, kMountReadOnly | kMountOptional});
    HideState(state_, place, mounts, out);
  }
}

// Nothing of the host's files but what the launch names of the state directory.
void MachineFiles::AddImageTo(launcher::Machine& machine, const Path& boot_disk,
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
  AddNamedAndVolumes(machine, boot_disk, launch);
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

// What the launch names in hidden directories, and the programs that it runs with their
// surroundings.
std::vector<std::string> MachineFiles::NamedPaths(const engine::ReplicaLaunch& launch) const {
  std::vector<std::string> paths;
  const std::vector<std::string> argv = launch.Argv();
  for (const std::string& word : argv) AddPaths(word, paths);
  for (const auto& [name, value] : launch.environment) AddPaths(value, paths);
  paths.insert(paths.end(), launch.needs.begin(), launch.needs.end());
  std::vector<std::string> found;
  const std::string buckets = (state_ / "buckets").string();
  for (const std::string& path : paths) {
    if (!IsHere(path) && !IsBelow(path, buckets)) continue;  // a trainer may make its job directory
    found.push_back(Path(path).lexically_normal().string());
    if (std::find(argv.begin(), argv.end(), path) == argv.end()) continue;
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) continue;
    found.push_back(SurroundingsOf(path).string());
    found.push_back(RepositoryOf(SurroundingsOf(path)).string());
    found.push_back(SurroundingsOf(std::filesystem::canonical(path, error)).string());
  }
  return found;
}

// A volume may have the state directory in it and hides that. So what is named of the state comes
// after the volumes, and all else, which may have a volume below it, before them.
void MachineFiles::AddNamedAndVolumes(launcher::Machine& machine, const Path& boot_disk,
                                      const engine::ReplicaLaunch& launch) const {
  std::set<std::string> elsewhere = NamedPlaces(launch);
  std::set<std::string> of_state;
  for (auto place = elsewhere.begin(); place != elsewhere.end();) {
    const bool is_of_state = IsBelow(*place, state_.string());
    if (is_of_state) of_state.insert(*place);
    place = is_of_state ? elsewhere.erase(place) : std::next(place);
  }
  AddPlaces(elsewhere, machine);
  AddVolumes(launch, boot_disk, state_, machine.mounts);
  if (!of_state.empty()) OpenWayTo(state_.string(), launch, machine);
  AddPlaces(of_state, machine);
}

// Sorted, so that a directory comes before what is below it.
std::set<std::string> MachineFiles::NamedPlaces(const engine::ReplicaLaunch& launch) const {
  const std::string buckets = (state_ / "buckets").string();
  std::set<std::string> places;
  for (std::string path : NamedPaths(launch)) {
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    const bool is_empty_directory =
        std::find(std::begin(kEmptyDirectories), std::end(kEmptyDirectories), path) !=
        std::end(kEmptyDirectories);
    const bool is_hidden = launch.image ? IsBelow(path, state_.string()) : IsHidden(path, launch);
    if (!is_hidden || is_empty_directory) continue;
    if (IsSecretOfState(path, state_.string())) continue;
    places.insert(IsBelow(path, buckets) ? buckets : path);
  }
  return places;
}

// Binds directories and files of the host. The state directory below one of them stays hidden.
void MachineFiles::AddPlaces(const std::set<std::string>& places,
                             launcher::Machine& machine) const {
  const std::string buckets = (state_ / "buckets").string();
  const std::vector<HostMount> mounts = HostMounts();
  std::string last;
  for (const std::string& place : places) {
    const bool is_covered = IsBelow(state_.string(), last) && IsBelow(place, state_.string());
    if (!last.empty() && IsBelow(place, last) && !is_covered) continue;
    last = place;
    const uint32_t flags = place == buckets ? 0 : kMountReadOnly;
    machine.mounts.push_back({MountKind::kBind, place, place, flags});
    if (place == buckets) HideWorkOfStorage(buckets, machine.mounts);
    HideState(state_, place, mounts, machine.mounts);
  }
}

}  // namespace caip::host
