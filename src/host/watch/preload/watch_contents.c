// The part of the preloaded library (watch.c) with the calls that change the contents of files, or
// end such changes.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "host/watch/preload/watching.h"

// Calls that write bytes.

EXPORTED ssize_t write(int descriptor, const void* bytes, size_t size) {
  if (!TakesOutput(descriptor)) return syscall(SYS_write, descriptor, bytes, size);
  return Call(SYS_write, (uint64_t)descriptor, P(bytes), size, 0, 0);
}
EXPORTED ssize_t writev(int descriptor, const struct iovec* parts, int count) {
  if (!TakesOutput(descriptor)) return syscall(SYS_writev, descriptor, parts, count);
  return Call(SYS_writev, (uint64_t)descriptor, P(parts), (uint64_t)count, 0, 0);
}
EXPORTED ssize_t pwrite64(int descriptor, const void* bytes, size_t size, off64_t place) {
  if (!TakesOutput(descriptor)) return syscall(SYS_pwrite64, descriptor, bytes, size, place);
  return Call(SYS_pwrite64, (uint64_t)descriptor, P(bytes), size, (uint64_t)place, 0);
}
EXPORTED ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t place) {
  return pwrite64(descriptor, bytes, size, place);
}

EXPORTED ssize_t pwritev64(int descriptor, const struct iovec* parts, int count, off64_t place) {
  if (!TakesOutput(descriptor)) return syscall(SYS_pwritev, descriptor, parts, count, place, 0);
  return Call(SYS_pwritev, (uint64_t)descriptor, P(parts), (uint64_t)count, (uint64_t)place, 0);
}
EXPORTED ssize_t pwritev(int descriptor, const struct iovec* parts, int count, off_t place) {
  return pwritev64(descriptor, parts, count, place);
}

EXPORTED ssize_t pwritev64v2(int descriptor, const struct iovec* parts, int count, off64_t place,
                             int flags) {
  long result = 0;
  if (TakesOutput(descriptor) && Ask(SYS_pwritev2, (uint64_t)descriptor, P(parts), (uint64_t)count,
                                     (uint64_t)place, 0, &result)) {
    return result;
  }
  return syscall(SYS_pwritev2, descriptor, parts, count, place, 0, flags);  // the sixth argument
}
EXPORTED ssize_t pwritev2(int descriptor, const struct iovec* parts, int count, off_t place,
                          int flags) {
  return pwritev64v2(descriptor, parts, count, place, flags);
}

// Calls that set sizes, or bring bytes to the disk.

EXPORTED int truncate64(const char* path, off64_t size) {
  if (Watched() != kFiles) return (int)syscall(SYS_truncate, path, size);
  return (int)Call(SYS_truncate, P(path), (uint64_t)size, 0, 0, 0);
}
EXPORTED int truncate(const char* path, off_t size) { return truncate64(path, size); }
EXPORTED int ftruncate64(int descriptor, off64_t size) {
  if (!IsWritten(descriptor)) return (int)syscall(SYS_ftruncate, descriptor, size);
  return (int)Call(SYS_ftruncate, (uint64_t)descriptor, (uint64_t)size, 0, 0, 0);
}
EXPORTED int ftruncate(int descriptor, off_t size) { return ftruncate64(descriptor, size); }
EXPORTED int fallocate64(int descriptor, int mode, off64_t place, off64_t size) {
  if (!IsWritten(descriptor)) return (int)syscall(SYS_fallocate, descriptor, mode, place, size);
  return (int)Call(SYS_fallocate, (uint64_t)descriptor, (uint64_t)mode, (uint64_t)place,
                   (uint64_t)size, 0);
}
EXPORTED int fallocate(int descriptor, int mode, off_t place, off_t size) {
  return fallocate64(descriptor, mode, place, size);
}
// Where a file system has no such call, the C library writes zeros. caip does the same for the
// files that it watches.
EXPORTED int posix_fallocate64(int descriptor, off64_t place, off64_t size) {
  static int (*real)(int, off64_t, off64_t);
  const int before = errno;
  const int error = fallocate64(descriptor, 0, place, size) == 0 ? 0 : errno;
  errno = before;
  if (error != EOPNOTSUPP) return error;
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "posix_fallocate64");
  return real(descriptor, place, size);
}
EXPORTED int posix_fallocate(int descriptor, off_t place, off_t size) {
  return posix_fallocate64(descriptor, place, size);
}
EXPORTED int fsync(int descriptor) {
  if (Watched() != kFiles) return (int)syscall(SYS_fsync, descriptor);
  return (int)Call(SYS_fsync, (uint64_t)descriptor, 0, 0, 0, 0);
}
EXPORTED int fdatasync(int descriptor) {
  if (Watched() != kFiles) return (int)syscall(SYS_fdatasync, descriptor);
  return (int)Call(SYS_fdatasync, (uint64_t)descriptor, 0, 0, 0, 0);
}
EXPORTED void sync(void) {
  if (Watched() == kFiles) {
    Call(SYS_sync, 0, 0, 0, 0, 0);
  } else {
    syscall(SYS_sync);
  }
}
EXPORTED int syncfs(int descriptor) {
  if (Watched() != kFiles) return (int)syscall(SYS_syncfs, descriptor);
  return (int)Call(SYS_syncfs, (uint64_t)descriptor, 0, 0, 0, 0);
}
EXPORTED int msync(void* place, size_t size, int flags) {
  if (Watched() != kFiles) return (int)syscall(SYS_msync, place, size, flags);
  return (int)Call(SYS_msync, P(place), size, (uint64_t)flags, 0, 0);
}
// The C library's own maps do not come here.
EXPORTED void* mmap64(void* place, size_t size, int protection, int flags, int descriptor,
                      off64_t from) {
  const int may_write = (flags & MAP_SHARED) && !(flags & MAP_ANONYMOUS);
  long ignored;
  if (may_write && descriptor >= 0 && IsWritten(descriptor)) {
    Ask(SYS_mmap, P(place), size, (uint64_t)protection, (uint64_t)flags, (uint64_t)descriptor,
        &ignored);
  }
  return (void*)syscall(SYS_mmap, place, size, protection, flags, descriptor, from);
}
EXPORTED void* mmap(void* place, size_t size, int protection, int flags, int descriptor,
                    off_t from) {
  return mmap64(place, size, protection, flags, descriptor, from);
}

// Refuses copies, as a kernel without them does. Programs then read and write, which caip sees.
static int IsRefused(int target) {
  if (!TakesOutput(target)) return 0;
  errno = EINVAL;
  return 1;
}

EXPORTED ssize_t sendfile(int target, int source, off_t* place, size_t size) {
  return IsRefused(target) ? -1 : syscall(SYS_sendfile, target, source, place, size);
}
EXPORTED ssize_t sendfile64(int target, int source, off64_t* place, size_t size) {
  return IsRefused(target) ? -1 : syscall(SYS_sendfile, target, source, place, size);
}
EXPORTED ssize_t splice(int source, off64_t* from, int target, off64_t* to, size_t size,
                        unsigned flags) {
  if (IsRefused(target)) return -1;
  return syscall(SYS_splice, source, from, target, to, size, flags);
}
EXPORTED ssize_t copy_file_range(int source, off64_t* from, int target, off64_t* to, size_t size,
                                 unsigned flags) {
  if (IsRefused(target)) return -1;
  return syscall(SYS_copy_file_range, source, from, target, to, size, flags);
}
EXPORTED int ioctl(int descriptor, unsigned long request, ...) {
  va_list more;
  va_start(more, request);
  void* argument = va_arg(more, void*);
  va_end(more);
  const int clones = request == FICLONE || request == FICLONERANGE;
  if (clones && TakesOutput(descriptor)) {
    errno = EOPNOTSUPP;
    return -1;
  }
  return (int)syscall(SYS_ioctl, descriptor, request, argument);
}

// Calls that close files and end processes, or start programs, which closes files as well.

EXPORTED int close(int descriptor) {
  long failed = 0;
  if (IsWritten(descriptor)) Ask(SYS_close, (uint64_t)descriptor, 0, 0, 0, 0, &failed);
  const int why = errno;
  const int closed = (int)syscall(SYS_close, descriptor);  // a file is closed even if close() fails
  if (!failed) return closed;
  errno = why;
  return -1;
}
EXPORTED int close_range(unsigned first, unsigned last, int flags) {
  if (Watched() != kFiles) return (int)syscall(SYS_close_range, first, last, flags);
  return (int)Call(SYS_close_range, first, last, (uint64_t)(int64_t)flags, 0, 0);
}
EXPORTED int dup3(int from, int to, int flags) {
  if (from == to || !IsWritten(to)) return (int)syscall(SYS_dup3, from, to, flags);
  return (int)Call(SYS_dup3, (uint64_t)from, (uint64_t)to, (uint64_t)flags, 0, 0);
}
EXPORTED int dup2(int from, int to) {
  if (from == to) return fcntl(from, F_GETFL) < 0 ? -1 : to;
  return dup3(from, to, 0);
}

static void AskBeforeExit(void) {
  long ignored;
  if (Watched() == kFiles) Ask(SYS_exit_group, 0, 0, 0, 0, 0, &ignored);
}

__attribute__((destructor)) static void OnUnload(void) { AskBeforeExit(); }

EXPORTED void _exit(int code) {
  AskBeforeExit();
  for (;;) syscall(SYS_exit_group, code);
}
EXPORTED void _Exit(int code) { _exit(code); }

// The C library's other functions that start programs do not come here.
EXPORTED int execve(const char* path, char* const words[], char* const environment[]) {
  if (Watched() != kFiles) return (int)syscall(SYS_execve, path, words, environment);
  return (int)Call(SYS_execve, P(path), P(words), P(environment), 0, 0);
}
EXPORTED int execv(const char* path, char* const words[]) { return execve(path, words, environ); }
