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

#include "host/watch/watched_process.h"

namespace caip::host {
namespace {

constexpr int64_t kFilePieceBytes = 1 << 20;  // of a large write, carried out as one piece
constexpr size_t kListBytes = 256u << 10;     // more than a C library requests
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
                           const ReplicaRoot& root, pid_t init, ReplicaWatcher& watcher)
    : key_(key),
      roots_(RealRoots(watch.roots, root)),
      changed_roots_(RealRoots(watch.changed_roots, root)),
      root_(root),
      init_(init),
      watcher_(watcher) {}

Handled WatchedFiles::Handle(const WatchedCall& call) {
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
    case SYS_getdents64:
      return List(call);
    case SYS_write:
    case SYS_writev:
    case SYS_pwrite64:
      return Write(call);
    case SYS_sendfile:
    case SYS_splice:
    case SYS_copy_file_range:
      return RefuseCopy(call);
    case SYS_close:
      return Close(call, call.descriptor(0));
#ifdef SYS_dup2
    case SYS_dup2:
#endif
    case SYS_dup3:  // closes the replaced file
      if (call.argument(0) == call.argument(1)) return Handled::kNotMine;
      return Close(call, call.descriptor(1));
    case SYS_exit_group:
      return CloseAll(call);
    default:
      return Handled::kNotMine;
  }
}

bool WatchedFiles::IsWatched(const std::string& path) const { return IsBelowOneOf(roots_, path); }

bool WatchedFiles::IsChangeWatched(const std::string& path) const {
  return IsWatched(path) || IsBelowOneOf(changed_roots_, path);
}

std::optional<std::string> WatchedFiles::Resolve(const WatchedCall& call, int directory,
                                                 uint64_t text, bool follow) const {
  const auto path = call.ReadText(text);
  if (!path || !call.IsWaiting()) return std::nullopt;
  return ResolvePath(call, root_, {directory, *path, follow});
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
  if ((opening.flags & O_PATH) || (opening.flags & O_TMPFILE) == O_TMPFILE) {
    return Handled::kNotMine;
  }
  const auto path = Resolve(call, opening.directory, call.argument(at ? 1 : 0),
                            !(opening.flags & (O_NOFOLLOW | O_EXCL)));
  const bool changes = Writes(opening.flags) || (opening.flags & O_CREAT);
  if (!path || !(changes ? IsChangeWatched(*path) : IsWatched(*path))) return Handled::kNotMine;
  const auto status = root_.Stat(*path);
  const bool exists = status.has_value();
  // Directories are reported when they are listed. Opening a FIFO here would block.
  if (exists && !S_ISREG(status->st_mode)) return Handled::kNotMine;
  opening.path = *path;
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
  if (operation.kind == FileOperation::Kind::kCreate)
    ::fchmod(file.get(), opening.mode & ~UmaskOf(call) & 07777);
  const Verdict verdict = watcher_.After(key_, operation, 0);
  if (verdict.kind == Verdict::Kind::kNever) return Handled::kNever;
  if (verdict.kind == Verdict::Kind::kFail) {
    call.Fail(verdict.error);
    return Handled::kAnswered;
  }
  const auto id = IdentifyFile("/proc/self/fd/" + std::to_string(file.get()));
  if (id && (opening.flags & O_ACCMODE) != O_RDONLY) {
    written_[*id] = {opening.path, operation.kind == FileOperation::Kind::kCreate, 0};
  }
  if (const int error = call.ReturnDescriptor(file.get(), opening.flags & O_CLOEXEC)) {
    call.Fail(error);
  }
  return Handled::kAnswered;
}

Handled WatchedFiles::Rename(const WatchedCall& call) {
  const bool at = call.number() == SYS_renameat || call.number() == SYS_renameat2;
  const auto from = Resolve(call, at ? call.descriptor(0) : AT_FDCWD, call.argument(at ? 1 : 0));
  const auto to = Resolve(call, at ? call.descriptor(2) : AT_FDCWD, call.argument(at ? 3 : 1));
  if (!from || !to || !(IsChangeWatched(*from) || IsChangeWatched(*to))) {
    return Handled::kNotMine;
  }
  const FileOperation operation{FileOperation::Kind::kRename, *from, *to};
  if (const Handled asked = Ask(call, operation); asked != Handled::kNotMine) return asked;
  const auto flags = static_cast<unsigned>(call.number() == SYS_renameat2 ? call.argument(4) : 0);
  if (!root_.Rename(*from, *to, flags)) return Answer(call, operation, -errno);
  for (auto& [id, written] : written_) {
    if ((written.path + "/").starts_with(*from + "/")) {
      written.path = *to + written.path.substr(from->size());
    }
  }
  return Answer(call, operation, 0);
}

Handled WatchedFiles::Delete(const WatchedCall& call) {
  const bool at = call.number() == SYS_unlinkat;
  bool is_directory = at && (call.argument(2) & AT_REMOVEDIR);
#ifdef SYS_rmdir
  is_directory |= call.number() == SYS_rmdir;
#endif
  const auto path = Resolve(call, at ? call.descriptor(0) : AT_FDCWD, call.argument(at ? 1 : 0));
  if (!path || !IsChangeWatched(*path)) return Handled::kNotMine;
  const FileOperation operation{FileOperation::Kind::kDelete, *path};
  if (const Handled asked = Ask(call, operation); asked != Handled::kNotMine) return asked;
  return Answer(call, operation, root_.Remove(*path, is_directory) ? 0 : -errno);
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

Handled WatchedFiles::Write(const WatchedCall& call) {
  const int descriptor = call.descriptor(0);
  const auto id = written_.empty() ? std::nullopt : call.Identify(descriptor);
  const auto found = id ? written_.find(*id) : written_.end();
  if (found == written_.end()) return Handled::kNotMine;
  return WriteAll(call, descriptor, found->second);
}

Handled WatchedFiles::WriteAll(const WatchedCall& call, int descriptor, Written& written) {
  const auto file = BorrowDescriptor(call, descriptor);
  if (!file.ok()) return Handled::kNotMine;
  FileOperation operation{FileOperation::Kind::kWrite, written.path, "", written.bytes, 0};
  for (const iovec& buffer : call.Buffers()) {
    operation.count += static_cast<int64_t>(buffer.iov_len);
  }
  if (operation.count == 0) return Handled::kNotMine;
  if (written.failing != 0) return FailPending(call, written);
  const int64_t wanted = operation.count;
  int64_t done = 0;
  while (done < wanted) {
    operation.bytes = written.bytes;
    operation.count = wanted - done;
    const Verdict verdict = watcher_.Before(key_, operation);
    if (verdict.kind == Verdict::Kind::kNever) return Handled::kNever;
    if (verdict.kind == Verdict::Kind::kFail) {
      written.failing = verdict.error;
      break;
    }
    int64_t part = operation.count;
    if (verdict.kind == Verdict::Kind::kPart) part = std::clamp<int64_t>(verdict.bytes, 1, part);
    const int64_t result = WritePart(call, file->get(), done, part);
    if (!call.IsWaiting()) return Handled::kAnswered;
    if (result <= 0 && done == 0) return Answer(call, operation, result);
    if (result <= 0) break;
    done += result;
    written.bytes += result;
    if (result < part) break;  // the disk is full: the kernel also returns less
  }
  if (done == 0) return FailPending(call, written);
  if (written.failing != 0) {  // the watcher has already decided about the rest of this write
    call.Return(done);
    return Handled::kAnswered;
  }
  operation.bytes = written.bytes - done;
  operation.count = done;
  const Verdict verdict = watcher_.After(key_, operation, 0);
  if (verdict.kind == Verdict::Kind::kNever) return Handled::kNever;
  if (verdict.kind == Verdict::Kind::kFail) written.failing = verdict.error;
  call.Return(done);
  return Handled::kAnswered;
}

// Fails with the error that an earlier write left. That write returned its number of bytes, as in
// the kernel, because a program that gets an error writes the bytes again.
Handled WatchedFiles::FailPending(const WatchedCall& call, Written& written) {
  call.Fail(std::exchange(written.failing, 0));
  return Handled::kAnswered;
}

// Writes `bytes` of the call's data after the first `skip`. Returns the number of written bytes, or
// -errno.
int64_t WatchedFiles::WritePart(const WatchedCall& call, int file, int64_t skip, int64_t bytes) {
  const bool is_placed = call.number() == SYS_pwrite64;
  const auto place = static_cast<off_t>(call.argument(3)) + skip;
  int64_t done = 0;
  for (const iovec& buffer : call.Buffers()) {
    const auto size = static_cast<int64_t>(buffer.iov_len);
    int64_t at = std::min(skip, size);
    skip -= at;
    while (at < size && done < bytes) {
      const auto piece = static_cast<size_t>(std::min({kFilePieceBytes, size - at, bytes - done}));
      const auto text = call.Read(reinterpret_cast<uint64_t>(buffer.iov_base) + at, piece);
      if (!text) return done > 0 ? done : -EFAULT;
      const ssize_t count = is_placed ? ::pwrite(file, text->data(), piece, place + done)
                                      : ::write(file, text->data(), piece);
      if (count <= 0) return done > 0 ? done : -errno;
      at += count;
      done += count;
    }
  }
  return done;
}

// Fails with the error for unsuitable descriptors. Programs then use read and write, which caip
// sees.
Handled WatchedFiles::RefuseCopy(const WatchedCall& call) {
  const int target = call.descriptor(call.number() == SYS_sendfile ? 0 : 2);
  const auto id = written_.empty() ? std::nullopt : call.Identify(target);
  if (!id || !written_.contains(*id)) return Handled::kNotMine;
  call.Fail(EINVAL);
  return Handled::kAnswered;
}

// The processes that may have a file open. The caller is one of them, whatever its ancestors.
std::vector<pid_t> WatchedFiles::Processes(pid_t caller) const {
  std::vector<pid_t> processes = DescendantsOf(init_);
  if (std::find(processes.begin(), processes.end(), caller) == processes.end()) {
    processes.push_back(caller);
  }
  return processes;
}

// Reports a close while the descriptor is still open. All bytes are written by then.
Handled WatchedFiles::Close(const WatchedCall& call, int descriptor) {
  const auto id = written_.empty() ? std::nullopt : call.Identify(descriptor);
  if (!id || !written_.contains(*id)) return Handled::kNotMine;
  const pid_t caller = ProcessOf(call);
  bool closes = false;
  for (const pid_t process : Processes(caller)) {
    for (const int writer : WritersOf(process, *id)) {
      if (process != caller || writer != descriptor) return Handled::kNotMine;
      closes = true;
    }
  }
  if (!closes) return Handled::kNotMine;
  // dup2 cannot report an error of the file that it replaces.
  const bool is_answered = call.number() == SYS_close;
  const int pending = written_.at(*id).failing;
  const Verdict verdict = Whole(*id, is_answered);
  if (verdict.kind == Verdict::Kind::kNever) return Handled::kNever;
  const int error = verdict.kind == Verdict::Kind::kFail ? verdict.error : pending;
  if (error == 0 || !is_answered) return Handled::kNotMine;
  call.FailClose(descriptor, error);
  return Handled::kAnswered;
}

// Handles the end of a process, which closes its descriptors.
Handled WatchedFiles::CloseAll(const WatchedCall& call) {
  if (written_.empty()) return Handled::kNotMine;
  const pid_t caller = ProcessOf(call);
  std::vector<FileId> ended;
  for (const auto& [id, written] : written_) {
    bool is_held = false;
    for (const pid_t process : Processes(caller)) {
      is_held |= process != caller && !WritersOf(process, id).empty();
    }
    if (!is_held && !WritersOf(caller, id).empty()) ended.push_back(id);
  }
  for (const FileId& id : ended) {
    if (Whole(id, false).kind == Verdict::Kind::kNever) return Handled::kNever;
  }
  return Handled::kNotMine;
}

Verdict WatchedFiles::Whole(const FileId& file, bool is_answered) {
  const Written written = written_.at(file);
  written_.erase(file);
  return watcher_.After(key_,
                        {FileOperation::Kind::kWhole, written.path, "", written.bytes, 0,
                         written.is_new, is_answered},
                        0);
}

}  // namespace caip::host
