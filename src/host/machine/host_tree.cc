#include "host/machine/host_tree.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "base/text.h"

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
  return path == directory || (path.starts_with(directory) && path[directory.size()] == '/');
}

bool IsInEmptyDirectory(std::string_view path) {
  const auto is_below = [&](std::string_view place) { return IsBelow(path, place); };
  return std::any_of(std::begin(kEmptyDirectories), std::end(kEmptyDirectories), is_below);
}

std::string StateBelow(const Path& place, const Path& state) {
  std::error_code error;
  const Path real_place = std::filesystem::canonical(place, error);
  const Path real_state = std::filesystem::canonical(state, error);
  if (error || !IsBelow(real_state.string(), real_place.string())) return "";
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
    mounts.push_back({Unescaped(words[4]), rest.substr(0, rest.find(' '))});
  }
  return mounts;
}

std::vector<HostMount> HostMounts() {
  const Result<std::string> text = ReadFile("/proc/self/mountinfo");
  return text.ok() ? ParseMounts(*text) : std::vector<HostMount>();
}

RootParts PartsOfRoot(const Path& root, const std::vector<HostMount>& mounts) {
  RootParts parts;
  const auto has_mounts = [&](const std::string& directory) {
    return std::any_of(mounts.begin(), mounts.end(),
                       [&](const HostMount& mount) { return IsBelow(mount.place, directory); });
  };
  const auto each = [](const Path& directory, const auto& take) {
    std::error_code error;
    for (std::filesystem::directory_iterator at(directory, error), end; !error && at != end;
         at.increment(error)) {
      std::error_code unreadable;
      if (at->is_symlink(unreadable) || at->is_directory(unreadable)) take(*at);
    }
  };
  const auto place_of = [&](const std::filesystem::directory_entry& entry) {
    return "/" + entry.path().lexically_relative(root).string();
  };
  each(root, [&](const std::filesystem::directory_entry& entry) {
    const std::string place = place_of(entry);
    if (IsOfKernel(place) || IsInEmptyDirectory(place)) return;
    std::error_code error;
    if (entry.is_symlink(error)) {
      parts.links.emplace_back(place, std::filesystem::read_symlink(entry.path(), error).string());
    } else if (!has_mounts(place)) {
      parts.layers.push_back(place);
    } else {
      each(entry.path(), [&](const std::filesystem::directory_entry& inner) {
        if (inner.is_symlink(error) || IsInEmptyDirectory(place_of(inner))) return;
        (has_mounts(place_of(inner)) ? parts.bound : parts.layers).push_back(place_of(inner));
      });
    }
  });
  return parts;
}

std::vector<std::string> SharedMounts(const std::vector<HostMount>& mounts) {
  std::vector<std::string> shared;
  for (const HostMount& mount : mounts) {
    const auto is_below = [&](std::string_view place) { return IsBelow(mount.place, place); };
    const bool is_of_people =
        std::find(std::begin(kFileSystemsOfTheKernel), std::end(kFileSystemsOfTheKernel),
                  mount.type) == std::end(kFileSystemsOfTheKernel);
    const bool is_elsewhere =
        mount.place == "/" || IsInEmptyDirectory(mount.place) || IsOfKernel(mount.place);
    // a bind mount has what is mounted below it
    const bool is_covered = std::any_of(shared.begin(), shared.end(),
                                        [&](const std::string& one) { return is_below(one); });
    if (is_of_people && !is_elsewhere && !is_covered) shared.push_back(mount.place);
  }
  return shared;
}

}  // namespace caip::host
