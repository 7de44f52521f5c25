#include "fakes/gcs/store/bucket_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "fakes/gcs/errors.h"
#include "fakes/gcs/store/file_errors.h"
#include "fakes/gcs/store/names.h"

namespace caip::gcs {
namespace {

std::string ParentOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::string LeafOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// S_IFREG, S_IFDIR and so on; 0 if nothing is there.
mode_t TypeOf(int directory, const std::string& leaf) {
  struct stat status {};
  const bool found = ::fstatat(directory, leaf.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
  return found ? status.st_mode & S_IFMT : 0;
}

bool IsOfType(int directory, const std::string& leaf, mode_t type) {
  return TypeOf(directory, leaf) == type;
}

// Gives each of two files the other's name. False if the filesystem cannot, or if a person has put
// a directory there meanwhile.
bool SwapFiles(int from_directory, const std::string& from, int to_directory,
               const std::string& to) {
  const auto swap = [&] {
    return ::renameat2(from_directory, from.c_str(), to_directory, to.c_str(), RENAME_EXCHANGE) ==
           0;
  };
  if (!swap()) return false;
  if (!IsOfType(from_directory, from, S_IFDIR)) return true;
  swap();
  return false;
}

// Why a new file could not get its object's name. If a person has removed it, the client can send
// its bytes again.
Error PlacingFailed(int from_directory, const std::string& from, const std::string& name,
                    int error_number) {
  const bool is_gone = error_number == ENOENT && TypeOf(from_directory, from) == 0;
  return is_gone ? errors::NewFileRemoved(name) : errors::CannotPlaceObject(name, error_number);
}

// Returns the object whose plain path is this directory's path, if any object has that path.
std::optional<std::string> NameOfDirectory(const std::string& path) {
  auto name = NameOfPath(path + "/x");
  if (name) name->resize(name->size() - 2);
  return name;
}

}  // namespace

bool MeansAbsent(int error_number) {
  return error_number == ENOENT || error_number == ENOTDIR || error_number == ELOOP ||
         error_number == EXDEV || error_number == ENXIO || error_number == ENAMETOOLONG;
}

FileIdentity IdentityOf(const struct stat& status) {
  return {status.st_ino, status.st_mtim.tv_sec * 1'000'000'000LL + status.st_mtim.tv_nsec,
          static_cast<uint64_t>(status.st_size)};
}

Fd OpenBeneath(int directory, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const std::string relative = path.empty() ? "." : path;
  long fd = -1;
  do {
    fd = ::syscall(SYS_openat2, directory, relative.c_str(), &how, sizeof how);
  } while (fd < 0 && (errno == EINTR || errno == EAGAIN));
  return Fd(static_cast<int>(fd));
}

std::vector<std::string> NamesIn(int directory) {
  std::vector<std::string> names;
  Fd again = OpenBeneath(directory, "", O_RDONLY | O_DIRECTORY);
  DIR* const list = again.valid() ? ::fdopendir(again.get()) : nullptr;
  if (!list) return names;
  (void)again.Release();  // the list closes it
  while (const dirent* entry = ::readdir(list)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(list);
  return names;
}

Result<std::optional<FileIdentity>> FileFinder::Find(const std::string& path) {
  std::string parent = ParentOf(path);
  if (!parent_directory_.valid() || parent != parent_) {
    parent_directory_ = OpenBeneath(bucket_directory_, parent, O_RDONLY | O_DIRECTORY);
    if (!parent_directory_.valid() && !MeansAbsent(errno)) {
      return errors::CannotOpenDirectoryOf(path, errno);
    }
    parent_ = std::move(parent);
  }
  struct stat status {};
  const std::string leaf = LeafOf(path);
  const bool found =
      parent_directory_.valid() &&
      ::fstatat(parent_directory_.get(), leaf.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
      S_ISREG(status.st_mode);
  return found ? std::optional(IdentityOf(status)) : std::nullopt;
}

OpenFile OpenPlainFile(int directory, const std::string& path) {
  OpenFile file{OpenBeneath(directory, path, O_RDONLY | O_NONBLOCK), path, {}};
  struct stat status {};
  if (!file.fd.valid()) return file;
  const bool known = ::fstat(file.fd.get(), &status) == 0;
  const int error = known ? 0 : errno;
  if (known && S_ISREG(status.st_mode)) {
    file.identity = IdentityOf(status);
  } else {
    file.fd.Close();
    errno = error;
  }
  return file;
}

Result<OpenFile> BucketTree::Open(const std::string& name) const {
  for (const std::string& path : {PlainPath(name), BesidePath(name)}) {
    OpenFile file = OpenPlainFile(directory_.get(), path);
    if (file.fd.valid()) return file;
    if (errno != 0 && !MeansAbsent(errno)) {
      return errors::CannotOpenObject(name, errno);
    }
  }
  return errors::ObjectNotFound(bucket_, name);
}

// Opens one directory of a path. Makes it if it is missing.
Result<Fd> BucketTree::EnterDirectory(int parent, const std::string& piece, const std::string& path,
                                      std::vector<std::string>* touched) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY;
  Fd fd = OpenBeneath(parent, piece, kFlags);
  if (!fd.valid() && errno == ENOTDIR) {
    RETURN_IF_ERROR(MoveAside(path, touched));
    errno = ENOENT;
  }
  if (!fd.valid() && errno == ENOENT) {
    if (::mkdirat(parent, piece.c_str(), 0777) != 0 && errno != EEXIST) {
      return errors::CannotMakeDirectoryOf(path, errno);
    }
    touched->push_back(ParentOf(path));
    fd = OpenBeneath(parent, piece, kFlags);
  }
  if (fd.valid()) return fd;
  if (errno == ENOTDIR || errno == ELOOP) return errors::NameOccupied(bucket_, path);
  return errors::CannotOpenDirectoryOf(path, errno);
}

// Opens the directory that holds the last piece of `path`. Makes missing directories.
Result<Fd> BucketTree::OpenParent(const std::string& path, std::vector<std::string>* touched) {
  const std::string parent = ParentOf(path);
  Fd fd = OpenBeneath(directory_.get(), parent, O_RDONLY | O_DIRECTORY);
  if (fd.valid()) return fd;
  fd = OpenBeneath(directory_.get(), "", O_RDONLY | O_DIRECTORY);
  if (!fd.valid()) {
    if (MeansAbsent(errno)) return errors::BucketNotFound(bucket_);
    return errors::CannotOpenBucket(bucket_, errno);
  }
  for (size_t begin = 0; begin < parent.size();) {
    const size_t end = std::min(parent.find('/', begin), parent.size());
    ASSIGN_OR_RETURN(fd, EnterDirectory(fd.get(), parent.substr(begin, end - begin),
                                        parent.substr(0, end), touched));
    begin = end + 1;
  }
  return fd;
}

// Moves the file at the path of a new directory to its object's path beside the directory.
Status BucketTree::MoveAside(const std::string& path, std::vector<std::string>* touched) {
  struct stat status {};
  Fd file = OpenBeneath(directory_.get(), path, O_PATH | O_NOFOLLOW);
  if (!file.valid() && !MeansAbsent(errno)) return errors::CannotMakeRoomFor(path, errno);
  const auto name = NameOfPath(path);
  if (!file.valid() || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) || !name ||
      PlainPath(*name) != path) {
    return errors::NameOccupied(bucket_, path);
  }
  const std::string beside = BesidePath(*name);
  ASSIGN_OR_RETURN(const Fd from, OpenParent(path, touched));
  ASSIGN_OR_RETURN(const Fd to, OpenParent(beside, touched));
  if (::renameat(from.get(), LeafOf(path).c_str(), to.get(), LeafOf(beside).c_str()) != 0) {
    return errors::CannotMakeRoomFor(*name, errno);
  }
  has_moved_others_ = true;
  touched->push_back(ParentOf(beside));
  return Ok{};
}

Result<FileIdentity> BucketTree::Place(int from_directory, const std::string& from,
                                       const std::string& name, std::vector<std::string>* touched) {
  ASSIGN_OR_RETURN(const Placed placed, Enter(from_directory, from, name, false, touched));
  struct stat status {};
  if (::fstatat(placed.parent.get(), placed.leaf.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return errors::CannotLookAtObject(name, errno);
  }
  return IdentityOf(status);
}

Result<bool> BucketTree::PlaceBySwap(int from_directory, const std::string& from,
                                     const std::string& name, std::vector<std::string>* touched) {
  ASSIGN_OR_RETURN(const Placed placed, Enter(from_directory, from, name, true, touched));
  return placed.has_swapped;
}

Result<BucketTree::Placed> BucketTree::Enter(int from_directory, const std::string& from,
                                             const std::string& name, bool by_swap,
                                             std::vector<std::string>* touched) {
  std::string path = PlainPath(name);
  ASSIGN_OR_RETURN(Fd parent, OpenParent(path, touched));
  const mode_t found = TypeOf(parent.get(), LeafOf(path));
  const bool beside = found == S_IFDIR;
  if (beside) {
    path = BesidePath(name);
    ASSIGN_OR_RETURN(parent, OpenParent(path, touched));
  }
  if (by_swap && has_moved_others_) RETURN_IF_ERROR(Sync(*touched));
  const std::string old = BesidePath(name);
  Fd other;  // the directory of the file beside, if it is not `parent`
  if (ParentOf(old) != ParentOf(path)) {
    other = OpenBeneath(directory_.get(), ParentOf(old), O_RDONLY | O_DIRECTORY);
    if (!other.valid() && !MeansAbsent(errno)) return errors::CannotPlaceObject(name, errno);
  }
  const int old_parent = ParentOf(old) == ParentOf(path) ? parent.get() : other.get();
  std::string leaf = LeafOf(path);
  const bool has_swapped =
      by_swap && found == S_IFREG && SwapFiles(from_directory, from, parent.get(), leaf);
  if (!has_swapped && ::renameat(from_directory, from.c_str(), parent.get(), leaf.c_str()) != 0) {
    return PlacingFailed(from_directory, from, name, errno);
  }
  touched->push_back(ParentOf(path));
  // An older file beside must not become visible again. Usually there is none, and a look needs no
  // lock of the directory.
  if (!beside && old_parent >= 0 && TypeOf(old_parent, LeafOf(old)) != 0) {
    ::unlinkat(old_parent, LeafOf(old).c_str(), 0);
  }
  return Placed{std::move(parent), std::move(leaf), has_swapped};
}

Status BucketTree::Remove(const std::string& name, std::vector<std::string>* touched) {
  const std::array<std::string, 2> paths = {PlainPath(name), BesidePath(name)};
  std::array<Fd, 2> parents;
  for (size_t i = 0; i < paths.size(); ++i) {  // before the first change
    parents[i] = OpenBeneath(directory_.get(), ParentOf(paths[i]), O_RDONLY | O_DIRECTORY);
    if (!parents[i].valid() && !MeansAbsent(errno)) return errors::CannotDeleteObject(name, errno);
  }
  bool found = false;
  for (size_t i = 0; i < paths.size(); ++i) {
    const std::string& path = paths[i];
    const Fd& parent = parents[i];
    if (!parent.valid() || !IsOfType(parent.get(), LeafOf(path), S_IFREG)) continue;
    if (::unlinkat(parent.get(), LeafOf(path).c_str(), 0) == 0) {
      found = true;
      touched->push_back(ParentOf(path));
      Prune(ParentOf(path), touched);
    } else if (errno != ENOENT) {
      return errors::CannotDeleteObject(name, errno);
    }
  }
  if (!found) return errors::ObjectNotFound(bucket_, name);
  return Ok{};
}

void BucketTree::Prune(std::string path, std::vector<std::string>* touched) {
  while (!path.empty()) {
    const std::string above = ParentOf(path);
    const Fd parent = OpenBeneath(directory_.get(), above, O_RDONLY | O_DIRECTORY);
    if (!parent.valid() || ::unlinkat(parent.get(), LeafOf(path).c_str(), AT_REMOVEDIR) != 0) {
      return;
    }
    std::erase(*touched, path);
    touched->push_back(above);
    MoveBack(path);
    path = above;
  }
}

void BucketTree::MoveBack(const std::string& path) {
  const auto name = NameOfDirectory(path);
  if (!name) return;
  const std::string beside = BesidePath(*name);
  const Fd from = OpenBeneath(directory_.get(), ParentOf(beside), O_RDONLY | O_DIRECTORY);
  const Fd to = OpenBeneath(directory_.get(), ParentOf(path), O_RDONLY | O_DIRECTORY);
  if (!from.valid() || !to.valid()) return;
  // Does not replace a file that was added by hand meanwhile: it is the object now.
  ::renameat2(from.get(), LeafOf(beside).c_str(), to.get(), LeafOf(path).c_str(), RENAME_NOREPLACE);
}

Status BucketTree::RemoveEmptyDirectories() const {
  // Collects all directories first, then removes them, the deepest first. Holds one descriptor at a
  // time.
  std::vector<std::string> paths = {""};
  for (size_t i = 0; i < paths.size(); ++i) {
    Fd fd = OpenBeneath(directory_.get(), paths[i], O_RDONLY | O_DIRECTORY);
    if (!fd.valid()) return errors::CannotRemoveBucket(bucket_, errno);
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(fd.Release()), &::closedir);
    if (!entries) return errors::CannotRemoveBucket(bucket_, errno);
    while (const dirent* entry = ::readdir(entries.get())) {
      const std::string leaf = entry->d_name;
      if (leaf == "." || leaf == "..") continue;
      if (!IsOfType(::dirfd(entries.get()), leaf, S_IFDIR)) {
        return errors::BucketHoldsForeignFiles(bucket_);
      }
      paths.push_back(paths[i].empty() ? leaf : paths[i] + "/" + leaf);
    }
  }
  for (size_t i = paths.size(); i-- > 1;) {
    const Fd parent = OpenBeneath(directory_.get(), ParentOf(paths[i]), O_RDONLY | O_DIRECTORY);
    if (!parent.valid()) return errors::CannotRemoveBucket(bucket_, errno);
    if (::unlinkat(parent.get(), LeafOf(paths[i]).c_str(), AT_REMOVEDIR) != 0) {
      if (errno == ENOTEMPTY || errno == EEXIST) return errors::BucketHoldsForeignFiles(bucket_);
      return errors::CannotRemoveBucket(bucket_, errno);
    }
  }
  return Ok{};
}

Status BucketTree::Sync(const std::vector<std::string>& touched) const {
  for (const std::string& path : touched) {
    const Fd fd = OpenBeneath(directory_.get(), path, O_RDONLY | O_DIRECTORY);
    if (!fd.valid() && MeansAbsent(errno)) continue;  // removed since: its parent is synced
    if (!fd.valid() || ::fsync(fd.get()) != 0) return errors::CannotSyncBucket(errno);
  }
  return Ok{};
}

}  // namespace caip::gcs
