#include "host/machine/host_tree.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <optional>

#include "base/text.h"
#include "host/machine/overlays.h"

namespace caip::host {
namespace {

// File systems whose files are the kernel's, wherever they are mounted. All others may
// hold a user's files, also those that this list does not know: lustre, fuse.gcsfuse, squashfs.
constexpr std::string_view kFileSystemsOfTheKernel[] = {
    "autofs",     "binfmt_misc", "bpf",       "cgroup",   "cgroup2", "configfs",
    "debugfs",    "devpts",      "devtmpfs",  "efivarfs", "fusectl", "hugetlbfs",
    "mqueue",     "nfsd",        "nsfs",      "proc",     "pstore",  "resctrl",
    "rpc_pipefs", "securityfs",  "selinuxfs", "sysfs",    "tracefs"};
constexpr std::string_view kPlacesOfTheKernel[] = {"/proc", "/sys", "/dev", "/run", "/var/run"};

bool IsOfKernel(std::string_view path) {
  const auto is_below = [&](std::string_view place) { return IsBelow(path, place); };
  return std::any_of(std::begin(kPlacesOfTheKernel), std::end(kPlacesOfTheKernel), is_below);
}

// mountinfo writes blanks and backslashes as octal numbers.
std::string Unescaped(std::string_view word) {
  std::string text;
  for (size_t i = 0; i < word.size(); ++i) {
    const bool is_escape = word[i] == '\\' && i + 3 < word.size();
    text += is_escape ? static_cast<char>((word[i + 1] - '0') * 64 + (word[i + 2] - '0') * 8 +
                                          (word[i + 3] - '0'))
                      : word[i];
    if (is_escape) i += 3;
  }
  return text;
}

}  // namespace

bool IsBelow(std::string_view path, std::string_view directory) {
  if (directory == "/") return path.starts_with('/');
  return path == directory || (path.starts_with(directory) && path[directory.size()] == '/');
}

bool IsInEmptyDirectory(std::string_view path) {
  const auto is_below = [&](std::string_view place) { return IsBelow(path, place); };
  return std::any_of(std::begin(kEmptyDirectories), std::end(kEmptyDirectories), is_below);
}

std::vector<EmptyDirectory> EmptyDirectoriesOfHost() {
  std::vector<EmptyDirectory> directories;
  for (const std::string_view name : kEmptyDirectories) {
    const Path path(name);
    std::error_code error;
    const Path parent = std::filesystem::weakly_canonical(path.parent_path(), error);
    const Path place = error ? path : parent / path.filename();
    directories.push_back({name, place.string()});
    const Path target = std::filesystem::canonical(path, error);
    if (!error && target != place && target.has_relative_path()) {
      directories.push_back({name, target.string()});
    }
  }
  return directories;
}

bool HostHas(const Path& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

bool MayReadHome() {
  return ::geteuid() == 0 && ::access(std::string(kHome).c_str(), R_OK | X_OK) == 0;
}

namespace {

bool IsMissing(const std::error_code& error) {
  return error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
}

}  // namespace

std::string StateBelow(const Path& place, const Path& state) {
  std::error_code of_place;
  std::error_code of_state;
  Path real_place = std::filesystem::canonical(place, of_place);
  Path real_state = std::filesystem::canonical(state, of_state);
  if (IsMissing(of_place) || IsMissing(of_state)) return "";
  if (of_place || of_state) {
    real_place = place.lexically_normal();
    real_state = state.lexically_normal();
  }
  if (!IsBelow(real_state.string(), real_place.string())) return "";
  if (real_state == real_place) return place.string();
  return (place / real_state.lexically_relative(real_place)).string();
}

std::vector<HostMount> ParseMounts(std::string_view mountinfo) {
  std::vector<HostMount> mounts;
  for (const std::string& line : Split(mountinfo, '\n')) {
    const size_t dash = line.find(" - ");
    const std::vector<std::string> words = Split(line, ' ');
    if (dash == std::string::npos || words.size() < 5) continue;
    const std::string rest = line.substr(dash + 3);
    mounts.push_back(
        {Unescaped(words[4]), rest.substr(0, rest.find(' ')), words[2], Unescaped(words[3])});
  }
  return mounts;
}

std::vector<HostMount> HostMounts() {
  const Result<std::string> text = ReadFile("/proc/self/mountinfo");
  return text.ok() ? ParseMounts(*text) : std::vector<HostMount>();
}

namespace {

// "/a" and "b/c" are "/a/b/c".
std::string Joined(const std::string& directory, std::string_view relative) {
  if (relative.empty()) return directory;
  return (directory == "/" ? "" : directory) + "/" + std::string(relative);
}

// The path of what is at or below the directory, from there; "/" has everything.
std::string_view RelativeTo(const std::string& directory, std::string_view path) {
  const size_t begin = directory == "/" ? 1 : directory.size() + 1;
  return path.size() > begin ? path.substr(begin) : "";
}

}  // namespace

std::vector<std::string> OtherPlacesOf(const std::string& directory,
                                       const std::vector<HostMount>& mounts) {
  const HostMount* own = nullptr;  // the deepest, and of several at one place the last
  for (const HostMount& mount : mounts) {
    const bool has_it = !mount.device.empty() && IsBelow(directory, mount.place);
    if (has_it && (!own || mount.place.size() >= own->place.size())) own = &mount;
  }
  std::vector<std::string> places;
  if (!own) return places;
  const std::string in_file_system = Joined(own->root, RelativeTo(own->place, directory));
  for (const HostMount& mount : mounts) {
    const bool shows_it = mount.device == own->device && IsBelow(in_file_system, mount.root);
    if (!shows_it) continue;
    std::string place = Joined(mount.place, RelativeTo(mount.root, in_file_system));
    if (place != directory) places.push_back(std::move(place));
  }
  return places;
}

namespace {

using DirectoryEntry = std::filesystem::directory_entry;

// A machine gets a mount for each entry of a directory that is split. One takes about 20 us. An
// overlay that can be changed takes some 600, with its directories on the disk.
constexpr size_t kSplitEntriesMax = 512;
constexpr size_t kSmallEntriesMax = 16;
// In directories of the root, and those in them, a replica may always make files. Deeper, an
// overlay has an effect only if the user owns the directory: the kernel copies no directory of
// another user to a layer of this one.
constexpr int kLayerDepthMax = 2;
constexpr std::string_view kRunDirectories[] = {"/run", "/run/lock", "/var/run"};

std::string ModeOf(const struct stat& status) {
  char digits[16];
  std::snprintf(digits, sizeof digits, "%o", status.st_mode & 07777u);
  return digits;
}

/// Sorts the entries of the host's root into parts.
class RootSplitter {
 public:
  RootSplitter(const Path& root, const OwnFiles& own, const std::vector<std::string>& with_own)
      : root_(root), own_(own), with_own_(with_own) {}

  RootParts Split(const std::vector<std::string>& mounts) {
    TakeAll(EntriesOf(root_).value_or(std::vector<DirectoryEntry>()), mounts);
    for (const std::string_view place : kRunDirectories) {
      const Path directory = root_ / Path(place).relative_path();
      struct stat status {};
      const bool is_there = ::lstat(directory.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
      if (is_there) parts_.directories.push_back({std::string(place), ModeOf(status)});
    }
    return std::move(parts_);
  }

 private:
  static const std::string& PathOf(const DirectoryEntry& entry) { return entry.path().native(); }

  // nullopt: this user may not read it. Of a directory with more entries, `max` and one.
  static std::optional<std::vector<DirectoryEntry>> EntriesOf(const Path& directory,
                                                              size_t max = SIZE_MAX - 1) {
    std::vector<DirectoryEntry> entries;
    std::error_code error;
    for (std::filesystem::directory_iterator at(directory, error), end;
         !error && at != end && entries.size() <= max; at.increment(error)) {
      entries.push_back(*at);
    }
    if (error) return std::nullopt;
    std::ranges::sort(entries, {}, PathOf);
    return entries;
  }

  std::string PlaceOf(const DirectoryEntry& entry) const {
    return "/" + PathOf(entry).substr(root_.has_filename() ? root_.native().size() + 1 : 1);
  }

  bool IsEmptyOnMachine(const std::string& place) const {
    return IsInEmptyDirectory(place) && !(own_.sees_home && IsBelow(place, kHome));
  }

  bool HasOwnBelow(const std::string& place) const {
    return std::ranges::any_of(own_.places, [&](const auto& path) { return IsBelow(path, place); });
  }

  bool MayBeLayer(const std::string& place, const struct stat& status) const {
    if (LayerName(place).size() > NAME_MAX) return false;
    return std::ranges::count(place, '/') <= kLayerDepthMax || status.st_uid == ::geteuid() ||
           HasOwnBelow(place);
  }

  void TakeAll(const std::vector<DirectoryEntry>& entries, const std::vector<std::string>& mounts) {
    for (const DirectoryEntry& entry : entries) Take(entry, mounts);
  }

  // `mounts`: those in the directory of the entry.
  void Take(const DirectoryEntry& entry, const std::vector<std::string>& mounts) {
    const std::string place = PlaceOf(entry);
    std::error_code error;
    const bool is_link = entry.is_symlink(error);  // also /var/run
    const bool is_own = std::ranges::find(own_.places, place) != own_.places.end();
    if ((IsOfKernel(place) && !is_link) || IsEmptyOnMachine(place) || is_own) return;
    const bool is_mount = std::ranges::find(mounts, place) != mounts.end() &&
                          std::ranges::find(with_own_, place) == with_own_.end();
    if (is_link) {
      TakeLink(entry, place);
    } else if (is_mount) {  // of SharedMounts, or of the kernel
      if (entry.is_directory(error)) parts_.directories.push_back({place, "755"});
    } else if (entry.is_directory(error)) {
      TakeDirectory(entry.path(), place, mounts);
    } else {
      parts_.files.push_back(place);
    }
  }

  void TakeLink(const DirectoryEntry& entry, const std::string& place) {
    std::error_code error;
    parts_.links.emplace_back(place, std::filesystem::read_symlink(entry.path(), error).string());
  }

  void TakeDirectory(const Path& directory, const std::string& place,
                     const std::vector<std::string>& mounts) {
    std::vector<std::string> below;
    std::ranges::copy_if(mounts, std::back_inserter(below), [&](const std::string& mount) {
      return mount != place && IsBelow(mount, place);
    });
    struct stat status {};
    if (::lstat(directory.c_str(), &status) != 0) return;  // it was removed
    if (below.empty() && MayBeLayer(place, status)) return TakeWhole(directory, place, status);
    const bool has_own = HasOwnBelow(place);
    if (below.empty() && !has_own) return parts_.bound.push_back(place);
    const auto entries = EntriesOf(directory);
    const bool is_small = entries && entries->size() <= kSplitEntriesMax;
    const bool is_of_root = std::ranges::count(place, '/') == 1;
    if (!is_small && !has_own && !is_of_root) return parts_.bound.push_back(place);
    parts_.directories.push_back({place, ModeOf(status)});
    TakeAll(entries.value_or(std::vector<DirectoryEntry>()), below);
  }

  // An overlay of a directory of others lets a replica make files directly in it, and change
  // nothing below. A directory of the machine with the entries, read-only, does the same. But the
  // replica cannot delete or rename them.
  void TakeWhole(const Path& directory, const std::string& place, const struct stat& status) {
    const auto entries = EntriesOf(directory, kSmallEntriesMax);
    const bool may_be_split = entries ? MaySplit(status, *entries) : !MaySearch(directory);
    if (!may_be_split || MustBeLayer(place)) return parts_.layers.push_back(place);
    if (!entries) return parts_.bound.push_back(place);
    parts_.directories.push_back({place, ModeOf(status)});
    RootParts::Shown shown{place, {}, {}};
    for (const DirectoryEntry& entry : *entries) TakeEntry(entry, shown);
    const bool has_only_links = shown.directories.empty() && shown.files.empty();
    if (!has_only_links) parts_.shown.push_back(std::move(shown));
  }

  void TakeEntry(const DirectoryEntry& entry, RootParts::Shown& shown) {
    std::string place = PlaceOf(entry);
    std::error_code error;
    if (entry.is_symlink(error)) {
      TakeLink(entry, place);
    } else {
      (entry.is_directory(error) ? shown.directories : shown.files).push_back(std::move(place));
    }
  }

  // Whether the machine or its disk has something there.
  bool MustBeLayer(const std::string& place) const {
    const auto is_below = [&](const std::string& path) { return IsBelow(path, place); };
    return HasOwnBelow(place) || std::ranges::any_of(own_.layers, is_below) ||
           (own_.is_on_disk && own_.is_on_disk(place));
  }

  // Without this right, nobody can make files there either.
  static bool MaySearch(const Path& directory) {
    return ::faccessat(AT_FDCWD, directory.c_str(), X_OK, AT_EACCESS) == 0 || errno != EACCES;
  }

  // Root of a user namespace may have rights over the files of many users.
  static bool MaySplit(const struct stat& status, const std::vector<DirectoryEntry>& entries) {
    if (entries.empty()) return true;
    const uid_t user = ::geteuid();
    return user != 0 && status.st_uid != user && entries.size() <= kSmallEntriesMax &&
           std::ranges::all_of(entries, IsOfOthers);
  }

  static bool IsOfOthers(const DirectoryEntry& entry) {
    struct stat status {};
    return ::lstat(entry.path().c_str(), &status) == 0 && status.st_uid != ::geteuid();
  }

  const Path& root_;
  const OwnFiles& own_;
  const std::vector<std::string>& with_own_;
  RootParts parts_;
};

}  // namespace

RootParts PartsOfRoot(const Path& root, const std::vector<HostMount>& mounts, const OwnFiles& own,
                      const std::vector<std::string>& with_own) {
  std::vector<std::string> places;
  for (const HostMount& mount : mounts) places.push_back(mount.place);
  return RootSplitter(root, own, with_own).Split(places);
}

namespace {

// Whether machines see the file system, beside the host's root.
bool IsOfPeople(const HostMount& mount, const OwnFiles& own) {
  const bool is_hidden =
      IsInEmptyDirectory(mount.place) && !(own.sees_home && IsBelow(mount.place, kHome));
  return mount.place != "/" && !is_hidden && !IsOfKernel(mount.place) &&
         std::ranges::find(kFileSystemsOfTheKernel, mount.type) ==
             std::end(kFileSystemsOfTheKernel);
}

// The home directory that a machine sees may be changed in it.
bool HasOwnIn(const std::string& mount, const OwnFiles& own) {
  if (own.sees_home && mount == kHome) return true;
  if (std::ranges::find(own.layers, mount) != own.layers.end()) return true;
  return std::ranges::any_of(own.places, [&](const std::string& place) {
    return place != mount && IsBelow(place, mount);
  });
}

}  // namespace

std::vector<std::string> SharedMounts(const std::vector<HostMount>& mounts, const OwnFiles& own) {
  std::vector<std::string> shared;
  for (const HostMount& mount : mounts) {
    // a bind mount has what is mounted below it
    const bool is_covered = std::ranges::any_of(
        shared, [&](const std::string& one) { return IsBelow(mount.place, one); });
    if (is_covered || !IsOfPeople(mount, own) || HasOwnIn(mount.place, own)) continue;
    shared.push_back(mount.place);
  }
  return shared;
}

std::vector<std::string> MountsWithOwn(const std::vector<HostMount>& mounts, const OwnFiles& own) {
  std::vector<std::string> with_own;
  for (const HostMount& mount : mounts) {
    if (IsOfPeople(mount, own) && HasOwnIn(mount.place, own)) with_own.push_back(mount.place);
  }
  std::ranges::sort(with_own);
  with_own.erase(std::unique(with_own.begin(), with_own.end()), with_own.end());
  return with_own;
}

}  // namespace caip::host
