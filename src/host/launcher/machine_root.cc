#include "host/launcher/machine_root.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#ifndef SYS_mount_setattr  // Linux 5.12
#define SYS_mount_setattr 442
#endif

namespace caip::host::launcher {
namespace {

constexpr mode_t kDirectoryMode = 0755;
constexpr mode_t kFileMode = 0644;
constexpr int kLinksMax = 8;

// Opens a path whose symbolic links never lead out of `root`.
int OpenInside(int root, const char* path, int flags) {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_IN_ROOT;
  return static_cast<int>(::syscall(SYS_openat2, root, path, &how, sizeof how));
}

// Opens the directory and makes it and its parents where they do not exist. -1 with errno.
int OpenDirectory(int root, std::string_view path) {
  int directory = OpenInside(root, "/", O_PATH | O_DIRECTORY);
  std::string walked;
  while (!path.empty() && directory >= 0) {
    const size_t end = std::min(path.find('/'), path.size());
    const std::string name(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
    if (name.empty()) continue;
    walked += "/" + name;
    int next = OpenInside(root, walked.c_str(), O_PATH | O_DIRECTORY);
    if (next < 0 && errno == ENOENT && ::mkdirat(directory, name.c_str(), kDirectoryMode) == 0) {
      next = OpenInside(root, walked.c_str(), O_PATH | O_DIRECTORY);
    }
    ::close(directory);
    directory = next;
  }
  return directory;
}

std::string_view ParentOf(std::string_view path) { return path.substr(0, path.rfind('/')); }

const char* NameIn(const char* path) { return std::strrchr(path, '/') + 1; }

// Opens the file and makes it where it does not exist: at the end of the symbolic links that lead
// to it, as /etc/resolv.conf may lead to a directory that only the host has. -1 with errno.
int OpenFile(int root, const std::string& path, int links = kLinksMax) {
  const int file = OpenInside(root, path.c_str(), O_PATH);
  if (file >= 0 || errno != ENOENT) return file;
  const int directory = OpenDirectory(root, ParentOf(path));
  if (directory < 0) return -1;
  const char* name = NameIn(path.c_str());
  const int made = ::openat(directory, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, kFileMode);
  char link[PATH_MAX];
  const ssize_t length = made < 0 ? ::readlinkat(directory, name, link, sizeof link) : -1;
  ::close(directory);
  if (made >= 0) {
    ::close(made);
    return OpenInside(root, path.c_str(), O_PATH);
  }
  if (length <= 0 || links == 0) return -1;
  const std::string target(link, static_cast<size_t>(length));
  const bool is_absolute = target.front() == '/';
  return OpenFile(root, is_absolute ? target : std::string(ParentOf(path)) + "/" + target,
                  links - 1);
}

bool IsDirectory(const char* path) {
  struct stat status {};
  return ::stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

// Bind mounts keep the flags of their file system, which an unprivileged user must not drop.
bool MakeReadOnly(const char* place) {
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_RDONLY;
  return ::syscall(SYS_mount_setattr, AT_FDCWD, place, AT_RECURSIVE, &attributes,
                   sizeof attributes) == 0;
}

bool Bind(int root, const Mount& mount) {
  int target = -1;
  if (mount.flags & kMountIfThere) {
    target = OpenInside(root, mount.target, O_PATH);
  } else if (IsDirectory(mount.source)) {
    target = OpenDirectory(root, mount.target);
  } else {
    target = OpenFile(root, mount.target);
  }
  if (target < 0) return false;
  char place[64];
  std::snprintf(place, sizeof place, "/proc/self/fd/%d", target);
  bool made = ::mount(mount.source, place, nullptr, MS_BIND | MS_REC, nullptr) == 0;
  const int error = errno;
  ::close(target);
  errno = error;
  if (!made || !(mount.flags & kMountReadOnly)) return made;
  const int mounted = OpenInside(root, mount.target, O_PATH);
  std::snprintf(place, sizeof place, "/proc/self/fd/%d", mounted);
  made = mounted >= 0 && MakeReadOnly(place);
  ::close(mounted);
  return made;
}

bool MountFileSystem(int root, const Mount& mount) {
  const int target = OpenDirectory(root, mount.target);
  if (target < 0) return false;
  char place[64];
  std::snprintf(place, sizeof place, "/proc/self/fd/%d", target);
  unsigned long flags = MS_NOSUID;
  if (mount.flags & kMountReadOnly) flags |= MS_RDONLY;
  if (!(mount.flags & kMountDevices)) flags |= MS_NODEV;
  const bool made = ::mount(mount.source, place, mount.source, flags, mount.data) == 0;
  const int error = errno;
  ::close(target);
  errno = error;
  return made;
}

bool Link(int root, const Mount& mount) {
  const int directory = OpenDirectory(root, ParentOf(mount.target));
  if (directory < 0) return false;
  const bool made =
      ::symlinkat(mount.source, directory, NameIn(mount.target)) == 0 || errno == EEXIST;
  ::close(directory);
  return made;
}

bool Make(int root, const Mount& mount) {
  switch (mount.kind) {
    case MountKind::kBind:
      return Bind(root, mount);
    case MountKind::kFileSystem:
      if (MountFileSystem(root, mount)) return true;
      return mount.flags & kMountOrBind &&
             Bind(root, {MountKind::kBind, mount.flags, mount.target, mount.target, ""});
    case MountKind::kLink:
      return Link(root, mount);
  }
  return false;
}

// The new root, in whose place the old one is put aside and dropped.
bool EnterRoot(int root) {
  return ::fchdir(root) == 0 && ::syscall(SYS_pivot_root, ".", ".") == 0 &&
         ::umount2(".", MNT_DETACH) == 0 && ::chdir("/") == 0;
}

Outcome MountBase(const Recipe& recipe) {
  // Nothing that is mounted here appears on the host.
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return {Step::kMounts, errno};
  }
  if (recipe.root[0] == '\0') return {};
  // pivot_root wants a mount
  const bool mounted = recipe.base[0] == '\0'
                           ? ::mount(recipe.root, recipe.root, nullptr, MS_BIND, nullptr) == 0
                           : ::mount("overlay", recipe.root, "overlay", 0, recipe.base) == 0;
  return mounted ? Outcome{} : Outcome{Step::kRoot, errno};
}

}  // namespace

Outcome MakeRoot(const Recipe& recipe, std::string& failed_mount) {
  Outcome outcome = MountBase(recipe);
  if (!outcome.ok()) return outcome;
  const bool has_root = recipe.root[0] != '\0';
  const int root = ::open(has_root ? recipe.root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  for (const Mount& mount : recipe.mounts) {
    if (Make(root, mount) || mount.flags & kMountOptional) continue;
    outcome = {Step::kMount, errno};
    failed_mount = mount.target;
    break;
  }
  if (outcome.ok() && has_root && !EnterRoot(root)) outcome = {Step::kRoot, errno};
  ::close(root);
  return outcome;
}

}  // namespace caip::host::launcher
