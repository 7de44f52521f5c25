#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "host/watch/caller_rights.h"
#include "host/watch/watched_files.h"
#include "host/watch/watched_process.h"

namespace caip::host {

// Calls that change the contents of files.

namespace {

constexpr int64_t kFilePieceBytes = 1 << 20;  // of a large write, carried out as one piece

int64_t BytesWanted(const WatchedCall& call) {
  int64_t bytes = 0;
  for (const iovec& buffer : call.Buffers()) bytes += static_cast<int64_t>(buffer.iov_len);
  return bytes;
}

// Whether the call says where in the file it writes.
bool IsPlaced(const WatchedCall& call) {
  switch (call.number()) {
    case SYS_pwrite64:
    case SYS_pwritev:
      return true;
    case SYS_pwritev2:  // -1: where the descriptor stands
      return static_cast<int64_t>(call.argument(3)) != -1;
    default:
      return false;
  }
}

// The place in the file after the bytes that the call has just written.
int64_t EndOfWrite(const WatchedCall& call, int file, int64_t count) {
  if (!IsPlaced(call)) return ::lseek(file, 0, SEEK_CUR);
  struct stat status {};
  const bool appends = ::fcntl(file, F_GETFL) & O_APPEND;
  if (appends) return ::fstat(file, &status) == 0 ? status.st_size : -1;
  return static_cast<int64_t>(call.argument(3)) + count;
}

// Where in the file the bytes of the call after the first `skip` go; -1 if that is not known.
int64_t BeginOfWrite(const WatchedCall& call, int file, int64_t skip) {
  struct stat status {};
  const bool appends = ::fcntl(file, F_GETFL) & O_APPEND;
  if (appends) return ::fstat(file, &status) == 0 ? status.st_size : -1;
  return IsPlaced(call) ? static_cast<int64_t>(call.argument(3)) + skip
                        : ::lseek(file, 0, SEEK_CUR);
}

constexpr int64_t kNoSizeLimit = std::numeric_limits<int64_t>::max();

// The size beyond which the process may not lengthen a file (RLIMIT_FSIZE).
int64_t SizeLimitOf(const WatchedCall& call) {
  rlimit limit{};
  if (::prlimit(call.thread(), RLIMIT_FSIZE, nullptr, &limit) != 0) return kNoSizeLimit;
  return static_cast<int64_t>(std::min<rlim_t>(limit.rlim_cur, kNoSizeLimit));
}

// The bytes that a write may add at its place.
int64_t RoomForWrite(const WatchedCall& call, int file, int64_t skip) {
  const int64_t limit = SizeLimitOf(call);
  const int64_t begin = limit == kNoSizeLimit ? -1 : BeginOfWrite(call, file, skip);
  return begin < 0 ? kNoSizeLimit : std::max<int64_t>(limit - begin, 0);
}

bool ExceedsSizeLimit(const WatchedCall& call, int file, int64_t bytes) {
  struct stat status {};
  return bytes > SizeLimitOf(call) && ::fstat(file, &status) == 0 && status.st_size < bytes;
}

// What the kernel does with a call beyond the limit (setrlimit(2)). Returns the call's -errno.
int64_t RefuseSize(const WatchedCall& call) {
  ::syscall(SYS_tgkill, ProcessOf(call), call.thread(), SIGXFSZ);
  return -EFBIG;
}

// The rights for a change of the file's contents; nullopt: those of this thread. The kernel takes
// the set-user-ID and set-group-ID bits from a file that a thread without CAP_FSETID changes
// (inode(7)).
std::optional<FileRights> RightsForChange(const ReplicaRoot& root, int file) {
  struct stat status {};
  const bool has_bits = ::fstat(file, &status) == 0 && (status.st_mode & (S_ISUID | S_ISGID));
  return has_bits ? root.caller().Find() : std::nullopt;
}

// Returns 0 or -errno.
int64_t ChangeSize(const WatchedCall& call, const ReplicaRoot& root, int file, int64_t bytes) {
  if (ExceedsSizeLimit(call, file, bytes)) return RefuseSize(call);
  const TakenRights taken(RightsForChange(root, file));
  return ::ftruncate(file, bytes) == 0 ? 0 : -errno;
}

// Returns 0 or -errno.
int64_t ReserveRoom(const WatchedCall& call, const ReplicaRoot& root, int file) {
  const TakenRights taken(RightsForChange(root, file));
  return -::posix_fallocate(file, static_cast<off_t>(call.argument(2)),
                            static_cast<off_t>(call.argument(3)));
}

}  // namespace

Handled WatchedFiles::Write(const WatchedCall& call) {
  const int descriptor = call.descriptor(0);
  const auto id = written_.empty() ? std::nullopt : call.Identify(descriptor);
  const auto found = id ? written_.find(*id) : written_.end();
  if (found == written_.end()) return Handled::kNotMine;
  if (call.number() == SYS_pwritev2 && call.argument(5) != 0) {  // flags: programs then do without
    call.Fail(EOPNOTSUPP);
    return Handled::kAnswered;
  }
  return WriteAll(call, descriptor, found->second);
}

Handled WatchedFiles::WriteAll(const WatchedCall& call, int descriptor, Written& written) {
  const auto file = BorrowDescriptor(call, descriptor);
  if (!file.ok()) return Handled::kNotMine;
  FileOperation operation{FileOperation::Kind::kWrite, written.path, "", written.bytes, 0};
  operation.count = BytesWanted(call);
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
    written.has_changed = true;
    if (result < part) break;  // the disk is full: the kernel also returns less
  }
  if (done == 0) return FailPending(call, written);
  if (written.failing != 0) {  // the watcher has already decided about the rest of this write
    call.Return(done);
    return Handled::kAnswered;
  }
  operation.bytes = written.bytes - done;
  operation.count = done;
  operation.end = EndOfWrite(call, file->get(), done);
  operation.is_synced = (::fcntl(file->get(), F_GETFL) & O_DSYNC) != 0;
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

namespace {

constexpr size_t kMemoryPageBytes = 4096;

/// A piece of the memory of a process. Its place in a page is that in the process, because the
/// kernel takes only memory at certain places for a file that is open with O_DIRECT.
class CopiedPiece {
 public:
  /// `bytes_max`: of one piece.
  explicit CopiedPiece(size_t bytes_max)
      : memory_(static_cast<char*>(
            ::operator new (bytes_max + kMemoryPageBytes, std::align_val_t{kMemoryPageBytes}))) {}

  /// False if the address is not mapped.
  bool Read(const WatchedCall& call, uint64_t address, size_t bytes) {
    begin_ = memory_.get() + address % kMemoryPageBytes;
    return call.Read(address, bytes, begin_);
  }
  const char* data() const { return begin_; }

 private:
  struct Release {
    void operator()(char* memory) const {
      ::operator delete (memory, std::align_val_t{kMemoryPageBytes});
    }
  };
  std::unique_ptr<char, Release> memory_;
  char* begin_ = nullptr;
};

/// Takes O_DIRECT from an open file for as long as it lives.
class TakenDirectness {
 public:
  explicit TakenDirectness(int file) : file_(file), flags_(::fcntl(file, F_GETFL)) {
    if (flags_ & O_DIRECT) ::fcntl(file_, F_SETFL, flags_ & ~O_DIRECT);
  }
  TakenDirectness(const TakenDirectness&) = delete;
  TakenDirectness& operator=(const TakenDirectness&) = delete;
  ~TakenDirectness() {
    const int error = errno;
    if (flags_ & O_DIRECT) ::fcntl(file_, F_SETFL, flags_);
    errno = error;
  }

 private:
  int file_;
  int flags_;
};

}  // namespace

// Writes `bytes` of the call's data after the first `skip`. Returns the number of written bytes, or
// -errno.
int64_t WatchedFiles::WritePart(const WatchedCall& call, int file, int64_t skip,
                                int64_t bytes) const {
  const bool is_placed = IsPlaced(call);
  const auto place = static_cast<off_t>(call.argument(3)) + skip;
  const int64_t room = RoomForWrite(call, file, skip);
  if (room == 0 && bytes > 0) return skip == 0 ? RefuseSize(call) : -EFBIG;
  bytes = std::min(bytes, room);
  const bool is_cut = skip > 0 || bytes < BytesWanted(call);
  const auto rights = RightsForChange(root_, file);
  CopiedPiece piece(static_cast<size_t>(std::min(kFilePieceBytes, bytes)));
  const auto write = [&](size_t size, off_t to) {
    const TakenRights taken(rights);
    return is_placed ? ::pwrite(file, piece.data(), size, to) : ::write(file, piece.data(), size);
  };
  // With O_DIRECT, the kernel takes only whole blocks of a disk. A cut may be within a block.
  const auto write_cut = [&](size_t size, off_t to) {
    const TakenDirectness taken(file);
    return write(size, to);
  };
  int64_t done = 0;
  for (const iovec& buffer : call.Buffers()) {
    const auto size = static_cast<int64_t>(buffer.iov_len);
    int64_t at = std::min(skip, size);
    skip -= at;
    while (at < size && done < bytes) {
      const auto next = static_cast<size_t>(std::min({kFilePieceBytes, size - at, bytes - done}));
      if (!piece.Read(call, reinterpret_cast<uint64_t>(buffer.iov_base) + at, next)) {
        return done > 0 ? done : -EFAULT;
      }
      ssize_t count = write(next, place + done);
      if (count < 0 && errno == EINVAL && is_cut) count = write_cut(next, place + done);
      if (count <= 0) return done > 0 ? done : -errno;
      at += count;
      done += count;
    }
  }
  return done;
}

// Sets the size of a file, or reserves room for it.
Handled WatchedFiles::Truncate(const WatchedCall& call) {
  FileOperation operation{FileOperation::Kind::kTruncate, ""};
  operation.bytes = static_cast<int64_t>(call.argument(1));
  if (call.number() == SYS_truncate) {
    const auto path = Resolve(call, AT_FDCWD, call.argument(0), PathEnd::kFollowed);
    if (!path || !IsChangeWatched(*path)) return Handled::kNotMine;
    operation.path = *path;
    if (const Handled asked = Ask(call, operation); asked != Handled::kNotMine) return asked;
    const Fd file = root_.Open(*path, O_WRONLY | O_NOCTTY | O_NONBLOCK, 0);
    if (!file.valid()) return Answer(call, operation, -errno);
    return Answer(call, operation, ChangeSize(call, root_, file.get(), operation.bytes));
  }
  const auto id = written_.empty() ? std::nullopt : call.Identify(call.descriptor(0));
  const auto found = id ? written_.find(*id) : written_.end();
  if (found == written_.end()) return Handled::kNotMine;
  const auto file = BorrowDescriptor(call, call.descriptor(0));
  if (!file.ok()) return Handled::kNotMine;
  operation.path = found->second.path;
  return call.number() == SYS_fallocate ? Reserve(call, file->get(), operation)
                                        : SetSize(call, file->get(), operation);
}

Handled WatchedFiles::SetSize(const WatchedCall& call, int file, const FileOperation& operation) {
  if (const Handled asked = Ask(call, operation); asked != Handled::kNotMine) return asked;
  return Answer(call, operation, ChangeSize(call, root_, file, operation.bytes));
}

// Holes are not made: programs then write zeros.
Handled WatchedFiles::Reserve(const WatchedCall& call, int file, FileOperation operation) {
  constexpr uint64_t kKeepsSize = 1;  // FALLOC_FL_KEEP_SIZE
  const uint64_t mode = call.argument(1);
  if (mode == kKeepsSize) return Handled::kNotMine;
  if (mode != 0) {
    call.Fail(EOPNOTSUPP);
    return Handled::kAnswered;
  }
  operation.bytes = static_cast<int64_t>(call.argument(2) + call.argument(3));
  struct stat status {};
  if (::fstat(file, &status) != 0 || status.st_size >= operation.bytes) return Handled::kNotMine;
  operation.count = operation.bytes - status.st_size;
  if (const Handled asked = Ask(call, operation); asked != Handled::kNotMine) return asked;
  if (ExceedsSizeLimit(call, file, operation.bytes)) {
    return Answer(call, operation, RefuseSize(call));
  }
  return Answer(call, operation, ReserveRoom(call, root_, file));
}

// The call is carried out here, so that the watcher learns of it when it is over.
Handled WatchedFiles::Sync(const WatchedCall& call) {
  FileOperation operation{FileOperation::Kind::kSync, ""};
  if (call.number() == SYS_sync || call.number() == SYS_msync || call.number() == SYS_syncfs) {
    const Verdict verdict = watcher_.After(key_, operation, 0);
    return verdict.kind == Verdict::Kind::kNever ? Handled::kNever : Handled::kNotMine;
  }
  const auto path = PathOfDescriptor(call, call.descriptor(0));
  if (!path || !IsChangeWatched(*path)) return Handled::kNotMine;
  operation.path = *path;
  const auto file = BorrowDescriptor(call, call.descriptor(0));
  if (!file.ok()) return Handled::kNotMine;
  const bool is_done =
      (call.number() == SYS_fsync ? ::fsync(file->get()) : ::fdatasync(file->get())) == 0;
  return Answer(call, operation, is_done ? 0 : -errno);
}

Handled WatchedFiles::Map(const WatchedCall& call) {
  const auto id = written_.empty() ? std::nullopt : call.Identify(call.descriptor(4));
  const auto found = id ? written_.find(*id) : written_.end();
  if (found == written_.end()) return Handled::kNotMine;
  const Verdict verdict = watcher_.After(key_, {FileOperation::Kind::kMap, found->second.path}, 0);
  return verdict.kind == Verdict::Kind::kNever ? Handled::kNever : Handled::kNotMine;
}

// Fails with the error for unsuitable descriptors, or file systems. Programs then use read and
// write, which caip sees.
Handled WatchedFiles::RefuseCopy(const WatchedCall& call) {
  const bool is_clone = call.number() == SYS_ioctl;
  const int target = call.descriptor(is_clone || call.number() == SYS_sendfile ? 0 : 2);
  const auto id = written_.empty() ? std::nullopt : call.Identify(target);
  if (!id || !written_.contains(*id)) return Handled::kNotMine;
  call.Fail(is_clone ? EOPNOTSUPP : EINVAL);
  return Handled::kAnswered;
}

}  // namespace caip::host
