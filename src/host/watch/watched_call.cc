#include "host/watch/watched_call.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

#include "host/watch/watched_process.h"

namespace caip::host {
namespace {

constexpr uint64_t kPage = 4096;

}  // namespace

std::optional<FileId> IdentifyFile(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return FileId{status.st_dev, status.st_ino};
}

std::string WatchedCall::Proc(const std::string& rest) const {
  return "/proc/" + std::to_string(facts_.thread) + "/" + rest;
}

std::optional<FileId> WatchedCall::Identify(int descriptor) const {
  return IdentifyFile(Proc("fd/" + std::to_string(descriptor)));
}

std::optional<std::string> WatchedCall::Read(uint64_t address, size_t bytes) const {
  std::string text(bytes, '\0');
  iovec ours{text.data(), bytes};
  iovec theirs{reinterpret_cast<void*>(address), bytes};
  const ssize_t count = ::process_vm_readv(thread(), &ours, 1, &theirs, 1, 0);
  if (count != static_cast<ssize_t>(bytes)) return std::nullopt;
  return text;
}

std::optional<std::string> WatchedCall::ReadText(uint64_t address) const {
  std::string text;
  while (text.size() < PATH_MAX) {  // page by page, because memory after the text may not be mapped
    const auto part = Read(address + text.size(), kPage - (address + text.size()) % kPage);
    if (!part) return std::nullopt;
    const size_t end = part->find('\0');
    text.append(*part, 0, end);
    if (end != std::string::npos) return text;
  }
  return std::nullopt;
}

std::vector<iovec> WatchedCall::Buffers() const {
  if (number() != SYS_writev) {
    return {{reinterpret_cast<void*>(argument(1)), argument(2)}};
  }
  const uint64_t count = argument(2);
  if (count == 0 || count > IOV_MAX) return {};
  const auto bytes = Read(argument(1), count * sizeof(iovec));
  if (!bytes) return {};
  std::vector<iovec> buffers(count);
  std::memcpy(buffers.data(), bytes->data(), bytes->size());
  return buffers;
}

bool WatchedCall::Write(uint64_t address, const std::string& bytes) const {
  iovec ours{const_cast<char*>(bytes.data()), bytes.size()};
  iovec theirs{reinterpret_cast<void*>(address), bytes.size()};
  const ssize_t count = ::process_vm_writev(thread(), &ours, 1, &theirs, 1, 0);
  return count == static_cast<ssize_t>(bytes.size());
}

namespace {

std::optional<std::string> PathOf(const WatchedCall& call, int directory, uint64_t text,
                                  bool follow) {
  const auto path = call.ReadText(text);
  // /proc/self would be caip's own directory here, and no program stores a file there.
  if (!path || path->starts_with("/proc/") || !call.IsWaiting()) return std::nullopt;
  return ResolvePath(call, directory, *path, follow);
}

std::optional<FileAccess> Opening(const WatchedCall& call, int at, int flags) {
  if ((flags & O_PATH) || (flags & O_TMPFILE) == O_TMPFILE || (flags & O_DIRECTORY)) {
    return std::nullopt;
  }
  const int directory = at ? call.descriptor(0) : AT_FDCWD;
  const auto path = PathOf(call, directory, call.argument(at), !(flags & (O_NOFOLLOW | O_EXCL)));
  if (!path) return std::nullopt;
  struct stat status {};
  const bool is_there = ::stat(path->c_str(), &status) == 0;
  const bool will_be = is_there ? S_ISREG(status.st_mode) : (flags & O_CREAT) != 0;
  if (!will_be) return std::nullopt;
  const bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) || !is_there;
  const bool keeps = is_there && (flags & O_ACCMODE) == O_RDWR && !(flags & O_TRUNC);
  return FileAccess{writes ? FileAccess::Kind::kWrite : FileAccess::Kind::kRead, *path, "",
                    is_there, writes && keeps};
}

std::optional<FileAccess> Renaming(const WatchedCall& call, bool at) {
  const auto from =
      PathOf(call, at ? call.descriptor(0) : AT_FDCWD, call.argument(at ? 1 : 0), false);
  const auto to =
      PathOf(call, at ? call.descriptor(2) : AT_FDCWD, call.argument(at ? 3 : 1), false);
  if (!from || !to) return std::nullopt;
  return FileAccess{FileAccess::Kind::kRename, *from, *to, ::access(to->c_str(), F_OK) == 0};
}

std::optional<FileAccess> Deleting(const WatchedCall& call, bool at) {
  const auto path =
      PathOf(call, at ? call.descriptor(0) : AT_FDCWD, call.argument(at ? 1 : 0), false);
  if (!path) return std::nullopt;
  return FileAccess{FileAccess::Kind::kDelete, *path, "", true};
}

int Flags(uint64_t argument) { return static_cast<int>(argument); }

}  // namespace

std::optional<FileAccess> ParseFileAccess(const WatchedCall& call) {
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
