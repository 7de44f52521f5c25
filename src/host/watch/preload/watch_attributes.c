// The part of the preloaded library (watch.c) with the calls that set modes and times.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
#include <utime.h>

#include "host/watch/preload/watching.h"

// Modes.

EXPORTED int fchmod(int descriptor, mode_t mode) {
  if (Watched() != kFiles) return (int)syscall(SYS_fchmod, descriptor, mode);
  return (int)Call(SYS_fchmod, (uint64_t)descriptor, mode, 0, 0, 0);
}
EXPORTED int fchmodat(int directory, const char* path, mode_t mode, int flags) {
  static int (*real)(int, const char*, mode_t, int);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "fchmodat");
  if (flags != 0) return real(directory, path, mode, flags);  // of links, which have no mode
  if (Watched() != kFiles) return (int)syscall(SYS_fchmodat, directory, path, mode);
  return (int)Call(SYS_fchmodat, (uint64_t)(int64_t)directory, P(path), mode, 0, 0);
}
EXPORTED int chmod(const char* path, mode_t mode) { return fchmodat(AT_FDCWD, path, mode, 0); }

// Times. Those of the older calls are in microseconds or seconds.

static int SetTimes(int directory, const char* path, const struct timespec* times, int flags) {
  if (Watched() != kFiles) return (int)syscall(SYS_utimensat, directory, path, times, flags);
  return (int)Call(SYS_utimensat, (uint64_t)(int64_t)directory, P(path), P(times),
                   (uint64_t)(int64_t)flags, 0);
}

// The descriptor is that of the file if there is no path.
static int SetTimevals(int directory, const char* path, const struct timeval values[2], int flags) {
  struct timespec times[2];
  for (int i = 0; values && i < 2; ++i) {
    if (values[i].tv_usec < 0 || values[i].tv_usec >= 1000000) {
      errno = EINVAL;
      return -1;
    }
    times[i].tv_sec = values[i].tv_sec;
    times[i].tv_nsec = values[i].tv_usec * 1000;
  }
  return SetTimes(directory, path, values ? times : NULL, flags);
}

// The C library declares that some paths are never null.
static int IsNull(const char* volatile path) { return path == NULL; }

EXPORTED int utimensat(int directory, const char* path, const struct timespec times[2], int flags) {
  if (!IsNull(path)) return SetTimes(directory, path, times, flags);
  errno = EINVAL;
  return -1;
}
EXPORTED int futimens(int descriptor, const struct timespec times[2]) {
  return SetTimes(descriptor, NULL, times, 0);
}
EXPORTED int futimesat(int directory, const char* path, const struct timeval values[2]) {
  return SetTimevals(directory, path, values, 0);
}
EXPORTED int utimes(const char* path, const struct timeval values[2]) {
  return SetTimevals(AT_FDCWD, path, values, 0);
}
EXPORTED int lutimes(const char* path, const struct timeval values[2]) {
  return SetTimevals(AT_FDCWD, path, values, AT_SYMLINK_NOFOLLOW);
}
EXPORTED int futimes(int descriptor, const struct timeval values[2]) {
  return SetTimevals(descriptor, NULL, values, 0);
}
EXPORTED int utime(const char* path, const struct utimbuf* seconds) {
  if (!seconds) return SetTimes(AT_FDCWD, path, NULL, 0);
  const struct timespec times[2] = {{seconds->actime, 0}, {seconds->modtime, 0}};
  return SetTimes(AT_FDCWD, path, times, 0);
}
