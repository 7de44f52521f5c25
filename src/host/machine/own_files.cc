#include "host/machine/own_files.h"

#include <sys/stat.h>

#include <filesystem>
#include <utility>

#include "base/encoding.h"
#include "base/text.h"
#include "host/machine/layered_root.h"
#include "host/machine/machine_files.h"
#include "host/machine/overlays.h"

namespace caip::host {
namespace {

using launcher::MachineMount;
using launcher::MountKind;

constexpr char kLive[] = "live";
constexpr char kOwnPlaces[] = "own-places";

bool HasHostNameOnDisk(const Path& boot_disk) { return HostHas(LayerOf(boot_disk, "/etc")); }

}  // namespace

bool IsLeft(const Path& path) {
  std::error_code error;
  return std::filesystem::exists(std::filesystem::symlink_status(path, error));
}

Path LiveOf(const Path& boot_disk, const std::string& file) {
  return boot_disk / kLive / PercentEncoded(Path(file).parent_path().string());
}

Status MakeLive(const Path& boot_disk, const std::string& file) {
  const Path live = LiveOf(boot_disk, file);
  if (HostHas(live)) return Ok{};
  RETURN_IF_ERROR(MakeDirectories(live));
  ::chmod(live.c_str(), 0755);
  return Ok{};
}

Status NoteOwnPlaces(const Path& boot_disk, const std::vector<std::string>& places) {
  std::string text;
  for (const std::string& place : places) text.append(place).push_back('\0');
  return WriteFile(boot_disk / kOwnPlaces, text);
}

std::vector<std::string> NotedOwnPlaces(const Path& boot_disk) {
  if (!HostHas(boot_disk / kOwnPlaces)) return {};
  const Result<std::string> text = ReadFile(boot_disk / kOwnPlaces);
  std::vector<std::string> places;
  for (std::string& place : Split(text.ok() ? *text : "", '\0')) {
    if (!place.empty()) places.push_back(std::move(place));
  }
  return places;
}

Status MakeEmptyDirectory(const Path& boot_disk, const EmptyDirectory& directory, bool is_kept) {
  const Path place = UpperOf(boot_disk, directory.place);
  RETURN_IF_ERROR(MakeUpper(boot_disk, Path(directory.place).parent_path().string()));
  if (!IsDirectoryOfDisk(boot_disk, place.parent_path())) return Ok{};
  std::error_code error;
  const auto type = std::filesystem::symlink_status(place, error).type();
  const bool is_left = is_kept && type != std::filesystem::file_type::not_found;
  if (is_left && type != std::filesystem::file_type::directory) return Ok{};
  RETURN_IF_ERROR(MakeOpaque(place));
  if (!is_left) ::chmod(place.c_str(), directory.name.ends_with("tmp") ? 01777 : 0755);
  return Ok{};
}

Status WriteHostName(const engine::ReplicaLaunch& launch, const Path& boot_disk, bool is_kept) {
  const std::string& name = launch.machine.host_name;
  if (name.empty() || !HasHostNameOnDisk(boot_disk)) return Ok{};
  const Path file = UpperOf(boot_disk, kHostNameFile);
  if (is_kept && IsLeft(file)) return Ok{};
  RETURN_IF_ERROR(WriteFile(file, name + "\n"));
  ::chmod(file.c_str(), 0644);
  return Ok{};
}

void AddHostName(const engine::ReplicaLaunch& launch, const Path& boot_disk,
                 std::vector<MachineMount>& places) {
  const std::string& name = launch.machine.host_name;
  if (name.empty() || HasHostNameOnDisk(boot_disk)) return;
  places.push_back({MountKind::kDirectory, "", "/etc", 0, "755"});
  places.push_back({MountKind::kFile, "", kHostNameFile, 0, name + "\n"});
}

}  // namespace caip::host
