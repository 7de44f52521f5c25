#include "host/launcher/machine_root.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "host/launcher/paths_inside.h"

#ifndef SYS_open_tree  // Linux 5.2
#define SYS_open_tree 428
#define SYS_move_mount 429
#endif
#ifndef SYS_mount_setattr  // Linux 5.12
#define SYS_mount_setattr 442
#endif

namespace caip::host::launcher {
namespace {

constexpr int kTriesMax = 100;  // while other programs replace files
constexpr char kOpaque[] = "trusted.overlay.opaque";

bool IsDirectory(int file) {
  struct stat status {};
  return ::fstat(file, &status) == 0 && S_ISDIR(status.st_mode);
}

// False with errno if one of them is a directory and the other a file. The kernel refuses such a
// mount with EINVAL, which has many other causes.
bool IsSameKind(int source, int target) {
  const bool is_directory = IsDirectory(target);
  errno = is_directory ? EISDIR : ENOTDIR;
  return is_directory == IsDirectory(source);
}

/// Closes a descriptor without changing errno.
class Held {
 public:
  explicit Held(int fd) : fd_(fd) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    const int error = errno;
    if (fd_ >= 0) ::close(fd_);
    errno = error;
  }
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  /// A path of the file, for calls that take no descriptor.
  std::string Place() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

// Makes the tree read-only, or writable again, where the mount asks for that. Bind mounts keep the
// flags of their file system, which an unprivileged user must not drop.
bool SetAccess(int tree, const Mount& mount) {
  mount_attr attributes{};
  if (mount.flags & kMountReadOnly) {
    attributes.attr_set = MOUNT_ATTR_RDONLY;
    if (mount.flags & kMountOrShow) attributes.attr_set |= MOUNT_ATTR_NOSUID;
  } else if (mount.kind == MountKind::kOverItself) {
    attributes.attr_clr = MOUNT_ATTR_RDONLY;
  } else {
    return true;
  }
  return ::syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes,
                   sizeof attributes) == 0;
}

// For kernels without the calls below, before Linux 5.2, and for filters of calls that do not know
// them.
bool BindByPath(int root, const Mount& mount, const Held& source, const Held& target) {
  const unsigned long flags = MS_BIND | MS_REC;
  if (::mount(source.Place().c_str(), target.Place().c_str(), nullptr, flags, nullptr) != 0) {
    return false;
  }
  const Held mounted(OpenInside(root, mount.target, O_PATH));
  if (mounted.valid() && SetAccess(mounted.get(), mount)) return true;
  const int error = errno;
  if (mounted.valid()) ::umount2(mounted.Place().c_str(), MNT_DETACH);
  errno = error;
  return false;
}

// Sets the access before the source is visible, and mounts it on the very file that was looked up.
bool BindOnce(int root, const Mount& mount, const Held& source, const Held& target) {
  const unsigned flags = AT_EMPTY_PATH | AT_RECURSIVE | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC;
  const Held tree(static_cast<int>(::syscall(SYS_open_tree, source.get(), "", flags)));
  if (!tree.valid()) {
    const bool lacks_calls = errno == ENOSYS || errno == EPERM;
    return lacks_calls && BindByPath(root, mount, source, target);
  }
  if (!SetAccess(tree.get(), mount)) return false;
  return ::syscall(SYS_move_mount, tree.get(), "", target.get(), "",
                   MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) == 0;
}

int OpenTarget(int root, const Mount& mount, const Held& source) {
  if (mount.flags & kMountIfThere) return OpenInside(root, mount.target, O_PATH);
  return IsDirectory(source.get()) ? OpenDirectory(root, mount.target)
                                   : OpenFile(root, mount.target);
}

int OpenSource(const Mount& mount) {
  if (!(mount.flags & kMountAside)) return ::open(mount.source, O_PATH | O_CLOEXEC);
  return ::open((std::string(kAside) + mount.source).c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
}

// The kernel mounts no file, and nothing on a file, that was replaced since it was looked up.
bool Bind(int root, const Mount& mount) {
  for (int tries = 1;; ++tries) {
    const Held source(OpenSource(mount));
    if (!source.valid()) return false;
    const Held target(OpenTarget(root, mount, source));
    if (!target.valid()) return false;
    if (!IsSameKind(source.get(), target.get())) return false;
    if (BindOnce(root, mount, source, target)) return true;
    const bool was_replaced = errno == ENOENT || errno == ESTALE;
    if (!was_replaced || tries == kTriesMax) return false;
  }
}

bool BindIfReadOnly(int root, const Mount& mount) {
  const Held target(OpenInside(root, mount.target, O_PATH));
  struct statvfs status {};
  const bool is_read_only =
      target.valid() && ::fstatvfs(target.get(), &status) == 0 && (status.f_flag & ST_RDONLY) != 0;
  return !is_read_only || Bind(root, mount);
}

bool MountOverItself(int root, const Mount& mount) {
  const Held place(OpenInside(root, mount.target, O_PATH));
  return place.valid() && BindOnce(root, mount, place, place);
}

// A boot disk is lost with its machine, so the kernel need not write it to the disk. Otherwise the
// end of the machine waits until the whole file system of the host is written.
bool MountOverlay(const char* place, unsigned long flags, const char* options) {
  const std::string without_syncs = std::string(options) + ",volatile";
  if (::mount("overlay", place, "overlay", flags, without_syncs.c_str()) == 0) return true;
  return errno == EINVAL &&  // before Linux 5.10
         ::mount("overlay", place, "overlay", flags, options) == 0;
}

bool MountFileSystem(int root, const Mount& mount) {
  const int target = OpenDirectory(root, mount.target);
  if (target < 0) return false;
  char place[64];
  std::snprintf(place, sizeof place, "/proc/self/fd/%d", target);
  unsigned long flags = MS_NOSUID;
  if (mount.flags & kMountReadOnly) flags |= MS_RDONLY;
  if (!(mount.flags & kMountDevices)) flags |= MS_NODEV;
  const bool is_overlay = std::strcmp(mount.source, "overlay") == 0;
  const bool has_layer = is_overlay && !(mount.flags & kMountReadOnly);
  const bool made = has_layer ? MountOverlay(place, flags, mount.data)
                              : ::mount(mount.source, place, mount.source, flags, mount.data) == 0;
  const int error = errno;
  ::close(target);
  errno = error;
  return made;
}

bool IsRemoved(int error) { return error == ENOENT || error == ENOTDIR; }

// Whether the host has no directory at the target any more.
bool WasRemoved(const Mount& mount) {
  const Held directory(::open(mount.target, O_PATH | O_DIRECTORY | O_CLOEXEC));
  return !directory.valid() && IsRemoved(errno);
}

// Another program of the host may remove the directory that an overlay shows. The machine has an
// empty directory instead then.
bool MountWhatIsOnHost(int root, const Mount& mount) {
  for (int tries = 1;; ++tries) {
    if (MountFileSystem(root, mount)) return true;
    const int error = errno;
    if (!(mount.flags & kMountIfOnHost) || !IsRemoved(error)) return false;
    if (WasRemoved(mount)) return true;
    errno = error;
    if (tries == kTriesMax) return false;
  }
}

// The kernel refuses overlays of some directories: those of vfat, and those that are two overlays
// deep already.
bool IsRefused(int error) { return error == EINVAL || error == EOPNOTSUPP || error == ELOOP; }

// Shows the host's directory in place of a file system that cannot be mounted.
bool BindInstead(int root, const Mount& mount) {
  uint32_t flags = mount.flags & ~kMountAside;
  if (flags & kMountOrShow && IsRefused(errno)) flags |= kMountOrBind | kMountReadOnly;
  return flags & kMountOrBind &&
         Bind(root, {MountKind::kBind, flags, mount.target, mount.target, ""});
}

bool MountAside(const Mount& mount) {
  const Held aside(::open(kAside, O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!aside.valid()) return false;
  return MountWhatIsOnHost(aside.get(), mount) || BindInstead(aside.get(), mount);
}

bool Link(int root, const Mount& mount) {
  const int directory = OpenDirectory(root, ParentOf(mount.target));
  if (directory < 0) return false;
  const bool made =
      ::symlinkat(mount.source, directory, NameIn(mount.target)) == 0 || errno == EEXIST;
  ::close(directory);
  return made;
}

bool MakeDirectory(int root, const Mount& mount) {
  const Held existing(OpenInside(root, mount.target, O_PATH | O_DIRECTORY));
  if (existing.valid()) return true;
  const Held made(OpenDirectory(root, mount.target));
  const auto mode = static_cast<mode_t>(std::strtoul(mount.data, nullptr, 8));
  if (!made.valid() || ::chmod(made.Place().c_str(), mode) != 0) return false;
  return !(mount.flags & kMountOpaque) || ::setxattr(made.Place().c_str(), kOpaque, "y", 1, 0) == 0;
}

bool MakeFile(int root, const Mount& mount) {
  const Held existing(OpenInside(root, mount.target, O_PATH));
  if (existing.valid()) return true;
  const Held made(OpenFile(root, mount.target));
  const std::string_view text = mount.data;
  if (!made.valid() || text.empty()) return made.valid();
  const Held opened(::open(made.Place().c_str(), O_WRONLY | O_CLOEXEC));
  return opened.valid() && ::fchmod(opened.get(), kFileMode) == 0 &&
         ::write(opened.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// Whether the files of the kernel would cover another directory of an image, such as all of it.
bool IsKernelThroughLink(int root, const Mount& mount) {
  const std::string_view type = mount.source;
  if (type != "proc" && type != "sysfs") return false;
  const Held place(OpenInside(root, mount.target, O_PATH | O_NOFOLLOW));
  struct stat status {};
  return place.valid() && ::fstat(place.get(), &status) == 0 && S_ISLNK(status.st_mode);
}

bool Make(int root, const Mount& mount) {
  switch (mount.kind) {
    case MountKind::kBind:
      return mount.flags & kMountIfReadOnly ? BindIfReadOnly(root, mount) : Bind(root, mount);
    case MountKind::kFileSystem:
      if (mount.flags & kMountIfThere && !Held(OpenInside(root, mount.target, O_PATH)).valid()) {
        return true;
      }
      if (IsKernelThroughLink(root, mount)) {
        errno = ENOTDIR;
        return false;
      }
      if (mount.flags & kMountAside) return MountAside(mount);
      return MountWhatIsOnHost(root, mount) || BindInstead(root, mount);
    case MountKind::kLink:
      return Link(root, mount);
    case MountKind::kDirectory:
      return MakeDirectory(root, mount);
    case MountKind::kFile:
      return MakeFile(root, mount);
    case MountKind::kOverItself:
      return MountOverItself(root, mount);
  }
  return false;
}

// The new root, in whose place the old one is put aside and dropped.
bool EnterRoot(int root) {
  return ::fchdir(root) == 0 && ::syscall(SYS_pivot_root, ".", ".") == 0 &&
         ::umount2(".", MNT_DETACH) == 0 && ::chdir("/") == 0;
}

/// Opens the directory that a place is in. Most places are in that of the one before.
class ParentOfPlaces {
 public:
  explicit ParentOfPlaces(int root) : root_(root) {}
  /// -1: it does not exist.
  int Open(const Mount& place) {
    const std::string_view path = ParentOf(place.target);
    if (!parent_ || !parent_->valid() || path != path_) {
      path_ = path;
      const char* const inside = path_.empty() ? "/" : path_.c_str();
      parent_.emplace(OpenInside(root_, inside, O_PATH | O_DIRECTORY));
    }
    return parent_->get();
  }

 private:
  int root_;
  std::string path_;
  std::optional<Held> parent_;
};

// Most places are new, and one or two calls make them. False: Make looks what is there.
bool MakeNewPlace(ParentOfPlaces& parents, const Mount& place) {
  const int parent = parents.Open(place);
  const char* const name = NameIn(place.target);
  if (parent < 0) return false;
  if (place.kind == MountKind::kLink) return ::symlinkat(place.source, parent, name) == 0;
  if (place.kind == MountKind::kFile && place.data[0] == '\0') {
    const int flags = O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC;
    return Held(::openat(parent, name, flags, kFileMode)).valid();
  }
  if (place.kind != MountKind::kDirectory || place.flags & kMountOpaque) return false;
  const auto mode = static_cast<mode_t>(std::strtoul(place.data, nullptr, 8));
  return ::mkdirat(parent, name, kDirectoryMode) == 0 && ::fchmodat(parent, name, mode, 0) == 0;
}

// Makes the layer of the recipe's places and the directory for the overlay, both in memory
// (src/host/machine/machine_places.h).
bool MakePlaces(const Recipe& recipe, const std::string& machine) {
  const char* const options = "mode=755,size=64m";
  if (::mount("tmpfs", recipe.root, "tmpfs", MS_NODEV | MS_NOSUID, options) != 0) return false;
  if (::mkdir(kPlacesLayer, kDirectoryMode) != 0) return false;
  if (::mkdir(kEmptyLayer, kDirectoryMode) != 0) return false;
  if (::mkdir(kAside, kDirectoryMode) != 0) return false;
  if (::mkdir(machine.c_str(), kDirectoryMode) != 0) return false;
  const Held layer(::open(kPlacesLayer, O_PATH | O_DIRECTORY | O_CLOEXEC));
  ParentOfPlaces parents(layer.get());
  return std::all_of(recipe.places.begin(), recipe.places.end(), [&](const Mount& place) {
    return MakeNewPlace(parents, place) || Make(layer.get(), place);
  });
}

// The directory at which the root of the machine is mounted.
std::string RootOf(const Recipe& recipe) {
  if (recipe.root[0] == '\0') return "/";
  return recipe.places.empty() ? recipe.root : std::string(recipe.root) + "/machine";
}

Outcome MountBase(const Recipe& recipe) {
  // Nothing that is mounted here appears on the host.
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return {Step::kMounts, errno};
  }
  if (recipe.root[0] == '\0') return {};
  const std::string beside(ParentOf(recipe.root));
  if (::chdir(beside.c_str()) != 0) return {Step::kRoot, errno};
  const std::string root = RootOf(recipe);
  if (!recipe.places.empty() && !MakePlaces(recipe, root)) return {Step::kRoot, errno};
  // pivot_root wants a mount
  const bool mounted = recipe.base[0] == '\0'
                           ? ::mount(recipe.root, recipe.root, nullptr, MS_BIND, nullptr) == 0
                           : MountOverlay(root.c_str(), 0, recipe.base);
  return mounted ? Outcome{} : Outcome{Step::kRoot, errno};
}

/// Lets all users of the machine use the directories that are made, whatever umask caip has.
class UsualMask {
 public:
  UsualMask() : before_(::umask(S_IWGRP | S_IWOTH)) {}
  UsualMask(const UsualMask&) = delete;
  UsualMask& operator=(const UsualMask&) = delete;
  ~UsualMask() { ::umask(before_); }

 private:
  mode_t before_;
};

}  // namespace

Outcome MakeRoot(const Recipe& recipe, std::string& failed_mount) {
  const UsualMask mask;
  Outcome outcome = MountBase(recipe);
  if (!outcome.ok()) return outcome;
  const bool has_root = recipe.root[0] != '\0';
  const int root = ::open(RootOf(recipe).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
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
