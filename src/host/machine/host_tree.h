#pragma once
// The parts of the host's file system that a machine may see (machine_files.h).

#include <functional>
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
/// Whether the path exists, at the end of its links.
bool HostHas(const Path& path);

/// Where one of kEmptyDirectories is on this host, if its parents are links, and where it leads to
/// if it is a link itself.
struct EmptyDirectory {
  std::string_view name;  // "/var/tmp"
  std::string place;      // "/data/var/tmp"
};
std::vector<EmptyDirectory> EmptyDirectoriesOfHost();
/// In octal digits. `name`: one of kEmptyDirectories.
inline const char* ModeOfEmptyDirectory(std::string_view name) {
  return name.ends_with("tmp") ? "1777" : "755";
}

/// Whether kHome is the home directory of this user, and readable. Root of a user namespace may
/// have one that belongs to root of the host.
bool MayReadHome();

/// Where the state directory is in a directory that may be named through links; "": elsewhere, or
/// one of them does not exist. Where links cannot be followed, the paths alone decide.
std::string StateBelow(const Path& place, const Path& state);

/// A line of /proc/self/mountinfo (man 5 proc).
struct HostMount {
  std::string place;
  std::string type;         // "ext4"
  std::string device = {};  // "254:0"; the same for all mounts of a file system
  std::string root = {};    // what it shows: a directory of the file system
};
std::vector<HostMount> ParseMounts(std::string_view mountinfo);
/// Those of this process.
std::vector<HostMount> HostMounts();

/// Where else the directory can be seen: in other mounts of its file system. `directory` is
/// absolute and has no links in it.
std::vector<std::string> OtherPlacesOf(const std::string& directory,
                                       const std::vector<HostMount>& mounts);

/// How the machine of a user without rights over the host gets the host's root. The kernel refuses
/// such a user an overlay of a directory with mounts below it. The machine has an empty directory
/// instead, and in it the parts of what the host has there. It has one for each small
/// directory, too, because an overlay that can be changed takes longer than the mounts instead.
struct RootParts {
  struct Directory {
    std::string place;
    std::string mode;  // in octal digits
  };
  std::vector<Directory> directories;  // "/etc", empty, each before those in it
  std::vector<std::string> layers;     // "/usr", "/var/lib": an overlay of the host's directory
  /// Read-only, with all mounts below: directories that the user could not change in an overlay
  /// either, and directories with more entries than a machine gets mounts for.
  std::vector<std::string> bound;
  std::vector<std::string> files;                          // "/etc/passwd", read-only
  std::vector<std::pair<std::string, std::string>> links;  // "/bin" and "usr/bin"
  /// What a directory of the host has, beside links, read-only. The machine has an overlay of the
  /// directory beside its root, so that locks, sockets and pipes there are its own.
  struct Shown {
    std::string directory;
    std::vector<std::string> directories;  // "/opt/tools"
    std::vector<std::string> files;
  };
  std::vector<Shown> shown = {};
  /// Directories in which the machine has something for itself. Where the kernel refuses an overlay
  /// of one of them, the machine sees it read-only, with its own places in it.
  std::vector<std::string> with_own = {};
  std::vector<std::string> own = {};  // these places
};
/// What a machine has for itself among the host's files.
struct OwnFiles {
  std::vector<std::string> places = {};  // absolute, and without links
  bool sees_home = false;                // the machine has the host's kHome, and what is in it
  std::vector<std::string> layers = {};  // directories of the host that a kept disk has layers for
  /// Whether the disk has something at the path, or will have when the replica starts.
  std::function<bool(const std::string&)> is_on_disk = {};
};

/// The parts lack `own.places`, and no directory above one of these is read-only. `with_own`:
/// MountsWithOwn, which the parts have like directories of the root.
RootParts PartsOfRoot(const Path& root, const std::vector<HostMount>& mounts, const OwnFiles& own,
                      const std::vector<std::string>& with_own = {});

/// The file systems of the host that machines see as well, beside its root: those with files of
/// people, not those of the kernel, and none below /proc, /sys, /dev, /run or a hidden directory.
/// Machines see them read-only, with all that is mounted in them. Those of MountsWithOwn are not
/// among them.
std::vector<std::string> SharedMounts(const std::vector<HostMount>& mounts,
                                      const OwnFiles& own = {});

/// Such file systems in which the machine has something for itself, as in a /var that has the
/// machine's /var/tmp in it. Each comes before those in it.
std::vector<std::string> MountsWithOwn(const std::vector<HostMount>& mounts, const OwnFiles& own);

}  // namespace caip::host
