#include "host/watch/file_sights.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/watch/watched_process.h"

namespace caip::host {
namespace {

int Directory(uint64_t argument) { return static_cast<int>(argument); }

std::optional<std::string> PathOf(const WatchedCall& call, int directory, uint64_t text,
                                  bool follow) {
  const auto path = call.ReadText(text);
  // What /proc/self is to the replica it is not to us; and nobody leaves a file there.
  if (!path || path->starts_with("/proc/") || !call.IsWaiting()) return std::nullopt;
  return ResolvePath(call, directory, *path, follow);
}

std::optional<FileSight> Opening(const WatchedCall& call, int at, int flags) {
  if ((flags & O_PATH) || (flags & O_TMPFILE) == O_TMPFILE || (flags & O_DIRECTORY)) {
    return std::nullopt;
  }
  const int directory = at ? Directory(call.argument(0)) : AT_FDCWD;
  const auto path = PathOf(call, directory, call.argument(at), !(flags & (O_NOFOLLOW | O_EXCL)));
  if (!path) return std::nullopt;
  struct stat status {};
  const bool is_there = ::stat(path->c_str(), &status) == 0;
  const bool will_be = is_there ? S_ISREG(status.st_mode) : (flags & O_CREAT) != 0;
  if (!will_be) return std::nullopt;
  const bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) || !is_there;
  const bool keeps = is_there && (flags & O_ACCMODE) == O_RDWR && !(flags & O_TRUNC);
  return FileSight{writes ? FileSight::Kind::kWrite : FileSight::Kind::kRead, *path, "", is_there,
                   writes && keeps};
}

std::optional<FileSight> Renaming(const WatchedCall& call, bool at) {
  const auto from =
      PathOf(call, at ? Directory(call.argument(0)) : AT_FDCWD, call.argument(at ? 1 : 0), false);
  const auto to =
      PathOf(call, at ? Directory(call.argument(2)) : AT_FDCWD, call.argument(at ? 3 : 1), false);
  if (!from || !to) return std::nullopt;
  return FileSight{FileSight::Kind::kRename, *from, *to, ::access(to->c_str(), F_OK) == 0};
}

std::optional<FileSight> Deleting(const WatchedCall& call, bool at) {
  const auto path =
      PathOf(call, at ? Directory(call.argument(0)) : AT_FDCWD, call.argument(at ? 1 : 0), false);
  if (!path) return std::nullopt;
  return FileSight{FileSight::Kind::kDelete, *path, "", true};
}

int Flags(uint64_t argument) { return static_cast<int>(argument); }

}  // namespace

std::optional<FileSight> SightOf(const WatchedCall& call) {
  switch (call.number()) {
    case SYS_openat:
      return Opening(call, 1, Flags(call.argument(2)));
#ifdef SYS_open  // not on arm64
    case SYS_open:
      return Opening(call, 0, Flags(call.argument(1)));
    case SYS_creat:
      return Opening(call, 0, O_CREAT | O_WRONLY | O_TRUNC);
    case SYS_rename:
      return Renaming(call, false);
    case SYS_unlink:
    case SYS_rmdir:
      return Deleting(call, false);
#endif
    case SYS_renameat:
    case SYS_renameat2:
      return Renaming(call, true);
    case SYS_unlinkat:
      return Deleting(call, true);
    default:
      return std::nullopt;
  }
}

}  // namespace caip::host
