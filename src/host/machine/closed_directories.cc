#include "host/machine/closed_directories.h"

#include <sys/stat.h>

#include <algorithm>
#include <vector>

#include "base/files.h"
#include "host/images/image_files.h"
#include "host/machine/host_tree.h"

namespace caip::host {
namespace {

bool MaySearch(const engine::PreparedImage& image, const struct stat& directory) {
  if (directory.st_uid == image.user) return (directory.st_mode & S_IXUSR) != 0;
  const bool is_in_group =
      directory.st_gid == image.group || std::ranges::count(image.groups, directory.st_gid) != 0;
  if (is_in_group) return (directory.st_mode & S_IXGRP) != 0;
  return (directory.st_mode & S_IXOTH) != 0;
}

}  // namespace

std::string FindClosedDirectory(const engine::PreparedImage& image, const std::string& path) {
  if (image.user == 0) return "";
  const ImageFiles files(std::vector<Path>(image.layers.begin(), image.layers.end()));
  for (size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
    const std::string directory = path.substr(0, end);
    const auto found = files.StatusOfDirectory(directory);
    if (!found) return "";  // what is missing is made for all users
    if (!MaySearch(image, *found)) return directory;
  }
  return "";
}

// A launcher without root's rights owns all files of the image. Where a mount of the machine, such
// as a volume, leads to the path, the image does not.
void OpenWayTo(const std::string& path, const engine::ReplicaLaunch& launch,
               launcher::Machine& machine) {
  if (!launch.image || machine.maps_user) return;
  const bool is_in_mount = std::ranges::any_of(machine.mounts, [&](const auto& mount) {
    const bool is_mount =
        mount.kind == launcher::MountKind::kBind || mount.kind == launcher::MountKind::kFileSystem;
    return is_mount && IsBelow(path, mount.target);
  });
  if (is_in_mount) return;
  const std::string closed = FindClosedDirectory(*launch.image, path);
  const Path working = Path("/") / launch.working_directory;
  if (closed.empty() || IsBelow(working.lexically_normal().string(), closed)) return;
  machine.mounts.push_back(
      {launcher::MountKind::kFileSystem, "tmpfs", closed, 0, "mode=711,size=64m"});
}

}  // namespace caip::host
