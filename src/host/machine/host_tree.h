#pragma once
// The parts of the host's file system that a machine may see (machine_files.h).

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.h"

namespace caip::host {

/// Directories of the host that a machine has for itself, empty at its first boot.
inline constexpr std::string_view kHome = "/root";
inline constexpr std::string_view kEmptyDirectories[] = {"/tmp", "/var/tmp", kHome};

/// Whether `path` is the directory or below it. Both are absolute and normal.
bool IsBelow(std::string_view path, std::string_view directory);
bool IsInEmptyDirectory(std::string_view path);

/// Where the state directory is in a directory that may be named through links; "": elsewhere.
std::string StateBelow(const Path& place, const Path& state);

/// A line of /proc/self/mountinfo (man 5 proc).
struct HostMount {
  std::string place;
  std::string type;  // "ext4"
};
std::vector<HostMount> ParseMounts(std::string_view mountinfo);
/// Those of this process.
std::vector<HostMount> HostMounts();

/// The directories of the host's root in whose place a user's machine has overlays. The kernel
/// refuses an overlay of a directory with mounts below it to a user without rights over the host:
/// such a directory of the root is split, and such an entry of it is mounted read-only.
struct RootParts {
  std::vector<std::string> layers;                         // "/usr", "/var/lib"
  std::vector<std::string> bound;                          // "/var/cache"
  std::vector<std::pair<std::string, std::string>> links;  // "/bin" and "usr/bin"
};
RootParts PartsOfRoot(const Path& root, const std::vector<HostMount>& mounts);

/// The file systems of the host that machines see as well, beside its root: those with files of
/// people, not those of the kernel, and none below /proc, /sys, /dev, /run or a hidden directory.
std::vector<std::string> SharedMounts(const std::vector<HostMount>& mounts);

}  // namespace caip::host
