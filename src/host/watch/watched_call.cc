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
  if (!Read(address, bytes, text.data())) return std::nullopt;
  return text;
}

bool WatchedCall::Read(uint64_t address, size_t bytes, char* to) const {
  iovec ours{to, bytes};
  iovec theirs{reinterpret_cast<void*>(address), bytes};
  const ssize_t count = ::process_vm_readv(thread(), &ours, 1, &theirs, 1, 0);
  return count == static_cast<ssize_t>(bytes);
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
  const bool has_list =
      number() == SYS_writev || number() == SYS_pwritev || number() == SYS_pwritev2;
  if (!has_list) {
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

/// Parses calls of a replica that has this file system.
class AccessParser {
 public:
  AccessParser(const WatchedCall& call, const ReplicaRoot& root) : call_(call), root_(root) {}

  /// `at`: the argument that is the path; a directory comes before it, if it is not the first.
  std::optional<FileAccess> Opening(int at, int flags) const {
    if ((flags & O_PATH) || (flags & O_TMPFILE) == O_TMPFILE || (flags & O_DIRECTORY)) {
      return std::nullopt;
    }
    const bool follows = !(flags & (O_NOFOLLOW | O_EXCL));
    const auto path = PathOf(at, follows ? PathEnd::kFollowed : PathEnd::kName);
    if (!path) return std::nullopt;
    const auto status = root_.Stat(*path);
    const bool will_be = status ? S_ISREG(status->st_mode) : (flags & O_CREAT) != 0;
    if (!will_be) return std::nullopt;
    const bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) || !status;
    const bool keeps = status && (flags & O_ACCMODE) == O_RDWR && !(flags & O_TRUNC);
    return FileAccess{writes ? FileAccess::Kind::kWrite : FileAccess::Kind::kRead, *path, "",
                      status.has_value(), writes && keeps};
  }

  std::optional<FileAccess> Renaming(int from_at, int to_at) const {
    const auto from = PathOf(from_at, PathEnd::kDirectoryName);
    const auto to = PathOf(to_at, PathEnd::kDirectoryName);
    if (!from || !to) return std::nullopt;
    return FileAccess{FileAccess::Kind::kRename, *from, *to, root_.Stat(*to).has_value()};
  }

  std::optional<FileAccess> Deleting(int at) const {
    const auto path = PathOf(at, PathEnd::kDirectoryName);
    if (!path) return std::nullopt;
    return FileAccess{FileAccess::Kind::kDelete, *path, "", true};
  }

 private:
  std::optional<std::string> PathOf(int at, PathEnd end) const {
    const auto text = call_.ReadText(call_.argument(at));
    // /proc/self would be caip's own directory here, and no program stores a file there.
    if (!text || text->starts_with("/proc/") || !call_.IsWaiting()) return std::nullopt;
    const bool has_directory = call_.number() == SYS_openat || call_.number() == SYS_unlinkat ||
                               call_.number() == SYS_renameat || call_.number() == SYS_renameat2;
    const int directory = has_directory ? call_.descriptor(at - 1) : AT_FDCWD;
    return ResolvePath(call_, root_, {directory, *text, end});
  }

  const WatchedCall& call_;
  const ReplicaRoot& root_;
};

int Flags(uint64_t argument) { return static_cast<int>(argument); }

}  // namespace

std::optional<FileAccess> ParseFileAccess(const WatchedCall& call, const ReplicaRoot& root) {
  const AccessParser parser(call, root);
  switch (call.number()) {
    case SYS_openat:
      return parser.Opening(1, Flags(call.argument(2)));
#ifdef SYS_open  // not on arm64
    case SYS_open:
      return parser.Opening(0, Flags(call.argument(1)));
    case SYS_creat:
      return parser.Opening(0, O_CREAT | O_WRONLY | O_TRUNC);
    case SYS_rename:
      return parser.Renaming(0, 1);
    case SYS_unlink:
    case SYS_rmdir:
      return parser.Deleting(0);
#endif
    case SYS_renameat:
    case SYS_renameat2:
      return parser.Renaming(1, 3);
    case SYS_unlinkat:
      return parser.Deleting(1);
    default:
      return std::nullopt;
  }
}

}  // namespace caip::host
