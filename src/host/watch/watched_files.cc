#include "host/watch/watched_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iterator>
#include <string_view>
#include <utility>

#include "host/watch/reachable_path.h"
#include "host/watch/watched_process.h"

namespace caip::host {
namespace {

constexpr size_t kListBytes = 256u << 10;  // more than a C library requests
constexpr std::string_view kNoDisk[] = {"/proc/", "/sys/", "/dev/"};  // of a machine

bool Writes(int flags) { return (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC); }

}  // namespace

namespace {

bool IsBelowOneOf(const std::vector<std::string>& roots, const std::string& path) {
  return std::any_of(roots.begin(), roots.end(), [&](const std::string& root) {
    if (root != "/") return (path + "/").starts_with(root);
    return std::none_of(std::begin(kNoDisk), std::end(kNoDisk),
                        [&](std::string_view place) { return (path + "/").starts_with(place); });
  });
}

std::vector<std::string> RealRoots(const std::vector<std::string>& roots, const ReplicaRoot& view) {
  std::vector<std::string> real;
  for (const std::string& root : roots) {
    const std::string resolved = view.Resolve(root).value_or(root);
    real.push_back(resolved == "/" ? resolved : resolved + "/");
  }
  return real;
}

}  // namespace

WatchedFiles::WatchedFiles(const engine::ReplicaKey& key, const ReplicaWatch& watch,
                           ReplicaRoot& root, pid_t init, ReplicaWatcher& watcher)
    : key_(key),
      roots_(RealRoots(watch.roots, root)),
      changed_roots_(RealRoots(watch.changed_roots, root)),
      root_(root),
      init_(init),
      watcher_(watcher) {}

Handled WatchedFiles::Handle(const WatchedCall& call) {
  if (ReportClosed(call).kind == Verdict::Kind::kNever) return Handled::kNever;
  root_.caller().Begin(call.thread());
  switch (call.number()) {
#ifdef SYS_open  // not on arm64
    case SYS_open:
    case SYS_creat:
#endif
    case SYS_openat:
      return Open(call);
#ifdef SYS_rename
    case SYS_rename:
#endif
    case SYS_renameat:
    case SYS_renameat2:
      return Rename(call);
#ifdef SYS_unlink
    case SYS_unlink:
    case SYS_rmdir:
#endif
    case SYS_unlinkat:
      return Delete(call);
#ifdef SYS_mkdir
    case SYS_mkdir:
#endif
    case SYS_mkdirat:
      return MakeDirectory(call);
#ifdef SYS_link
    case SYS_link:
#endif
    case SYS_linkat:
      return Link(call);
#ifdef SYS_symlink
    case SYS_symlink:
#endif
    case SYS_symlinkat:
      return Symlink(call);
    case SYS_setfsuid:
    case SYS_setfsgid:
      root_.caller().NoteFileUserSet();
      return Handled::kNotMine;
    default:
      return HandleContents(call);
  }
}

Handled WatchedFiles::HandleContents(const WatchedCall& call) {
  switch (call.number()) {
    case SYS_getdents64:
      return List(call);
    case SYS_write:
    case SYS_writev:
    case SYS_pwrite64:
    case SYS_pwritev:
    case SYS_pwritev2:
      return Write(call);
    case SYS_truncate:
    case SYS_ftruncate:
    case SYS_fallocate:
      return Truncate(call);
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_sync:
    case SYS_syncfs:
    case SYS_msync:
      return Sync(call);
    case SYS_mmap:
      return Map(call);
    case SYS_openat2:  // programs then use openat
      call.Fail(ENOSYS);
      return Handled::kAnswered;
    case SYS_sendfile:
    case SYS_splice:
    case SYS_copy_file_range:
    case SYS_ioctl:
      return RefuseCopy(call);
    default:
      return HandleAttributes(call);
  }
}

bool WatchedFiles::IsWatched(const std::string& path) const { return IsBelowOneOf(roots_, path); }

bool WatchedFiles::IsChangeWatched(const std::string& path) const {
  return IsWatched(path) || IsBelowOneOf(changed_roots_, path);
}

std::optional<std::string> WatchedFiles::Resolve(const WatchedCall& call, int directory,
                                                 uint64_t text, PathEnd end) const {
  const auto path = call.ReadText(text);
  if (!path || !call.IsWaiting()) return std::nullopt;
  const NamedPath named{directory, *path, end};
  auto resolved = ResolvePath(call, root_, named);
  const bool is_watched = resolved && IsChangeWatched(*resolved);
  // The kernel refuses what the caller may not reach.
  if (is_watched && !MayReach(call, root_.caller().Find(), named)) return std::nullopt;
  return resolved;
}

Handled WatchedFiles::Ask(const WatchedCall& call, const FileOperation& operation) {
  const Verdict verdict = watcher_.Before(key_, operation);
  if (verdict.kind == Verdict::Kind::kNever) return Handled::kNever;
  if (verdict.kind != Verdict::Kind::kFail) return Handled::kNotMine;
  call.Fail(verdict.error);
  return Handled::kAnswered;
}

Handled WatchedFiles::Answer(const WatchedCall& call, const FileOperation& operation,
                             int64_t result) {
  int error = result < 0 ? static_cast<int>(-result) : 0;
  const Verdict verdict = watcher_.After(key_, operation, error);
  if (verdict.kind == Verdict::Kind::kNever) return Handled::kNever;
  if (verdict.kind == Verdict::Kind::kFail) error = verdict.error;
  error ? call.Fail(error) : call.Return(result);
  return Handled::kAnswered;
}

Handled WatchedFiles::Open(const WatchedCall& call) {
  const bool at = call.number() == SYS_openat;
  Opening opening{at ? call.descriptor(0) : AT_FDCWD, "",
                  static_cast<int>(call.argument(at ? 2 : 1)),
                  static_cast<mode_t>(call.argument(at ? 3 : 2))};
#ifdef SYS_creat
  if (call.number() == SYS_creat) {
    opening.flags = O_CREAT | O_WRONLY | O_TRUNC;
    opening.mode = static_cast<mode_t>(call.argument(1));
  }
#endif
  if (opening.flags & O_PATH) return Handled::kNotMine;
  const bool is_unnamed = (opening.flags & O_TMPFILE) == O_TMPFILE;  // the path is its directory's
  const bool follows = is_unnamed || !(opening.flags & (O_NOFOLLOW | O_EXCL));
  const auto path = Resolve(call, opening.directory, call.argument(at ? 1 : 0),
                            follows ? PathEnd::kFollowed : PathEnd::kName);
  const bool changes = Writes(opening.flags) || (opening.flags & O_CREAT);
  if (!path || !(changes ? IsChangeWatched(*path) : IsWatched(*path))) return Handled::kNotMine;
  if (is_unnamed) {
    call.Fail(EOPNOTSUPP);  // programs then make a file with a name
    return Handled::kAnswered;
  }
  const auto status = root_.Stat(*path);
  const bool exists = status.has_value();
  // Directories are reported when they are listed. Opening a FIFO here would block.
  if (exists && !S_ISREG(status->st_mode)) return Handled::kNotMine;
  opening.path = *path;
  if (exists && Writes(opening.flags)) {
    const auto open = written_.find({status->st_dev, status->st_ino});
    if (open != written_.end() && EndSoFar(open->second).kind == Verdict::Kind::kNever) {
      return Handled::kNever;
    }
  }
  FileOperation::Kind kind =
      Writes(opening.flags) ? FileOperation::Kind::kOverwrite : FileOperation::Kind::kRead;
  if (!exists && (opening.flags & O_CREAT)) kind = FileOperation::Kind::kCreate;
  return OpenBelow(call, opening, {kind, *path});
}

Handled WatchedFiles::OpenBelow(const WatchedCall& call, const Opening& opening,
                                FileOperation operation) {
  if (const Handled asked = Ask(call, operation); asked != Handled::kNotMine) return asked;
  const Fd file = root_.Open(opening.path, opening.flags | O_NOCTTY, 0600);
  if (!file.valid()) return Answer(call, operation, -errno);
  if (operation.kind == FileOperation::Kind::kCreate) {
    const mode_t mode = opening.mode & ~UmaskOf(call) & 07777;
    const TakenRights taken(root_.caller().Find());
    ::fchmod(file.get(), mode);
  }
  const Verdict verdict = watcher_.After(key_, operation, 0);
  if (verdict.kind == Verdict::Kind::kNever) return Handled::kNever;
  if (verdict.kind == Verdict::Kind::kFail) {
    call.Fail(verdict.error);
    return Handled::kAnswered;
  }
  const auto id = IdentifyFile("/proc/self/fd/" + std::to_string(file.get()));
  if (id && (opening.flags & O_ACCMODE) != O_RDONLY) {
    written_[*id] = {.path = opening.path,
                     .is_new = operation.kind == FileOperation::Kind::kCreate,
                     .opener = call.thread()};
  }
  if (const int error = call.ReturnDescriptor(file.get(), opening.flags & O_CLOEXEC)) {
    call.Fail(error);
  }
  return Handled::kAnswered;
}

// Reports a listing at its first call.
Handled WatchedFiles::List(const WatchedCall& call) {
  const int descriptor = call.descriptor(0);
  if (PositionOf(call, descriptor) != 0) return Handled::kNotMine;
  const auto path = PathOfDescriptor(call, descriptor);
  if (!path || !IsWatched(*path)) return Handled::kNotMine;
  const FileOperation operation{FileOperation::Kind::kList, *path};
  if (const Handled asked = Ask(call, operation); asked != Handled::kNotMine) return asked;
  const auto directory = BorrowDescriptor(call, descriptor);
  if (!directory.ok()) return Handled::kNotMine;
  std::string entries(std::min<size_t>(call.argument(2), kListBytes), '\0');
  const int64_t bytes = ::syscall(SYS_getdents64, directory->get(), entries.data(), entries.size());
  if (bytes < 0) return Answer(call, operation, -errno);
  entries.resize(static_cast<size_t>(bytes));
  return Answer(call, operation, call.Write(call.argument(1), entries) ? bytes : -EFAULT);
}

}  // namespace caip::host
