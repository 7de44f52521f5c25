// A library for LD_PRELOAD. It counts the calls with which a process changes files below a
// directory, and kills the process before one of them. It can also give that directory the number
// of another file system, and let calls there fail as on file systems of other kinds.
//
// CAIP_STOP_BELOW: the directory. CAIP_STOP_AT: the call before which the process is killed, from 1
// on; 0: none. CAIP_STOP_COUNT: file that gets the number of calls at the process's end.
// CAIP_STATFS_TYPE: the number that statfs(2) gives. CAIP_READ_ONLY=1: no file can be opened for
// writing. CAIP_LINK_ERROR: the number of the error with which link(2) fails. CAIP_FULL_BELOW: a
// directory in which no byte can be written.
//
// Changes of mapped files are not seen: SQLite's -shm file needs none.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

static const char* below;
static long stop_at, calls;

__attribute__((constructor)) static void begin(void) {
  const char* at = getenv("CAIP_STOP_AT");
  below = getenv("CAIP_STOP_BELOW");
  stop_at = at ? atol(at) : 0;
}

__attribute__((destructor)) static void end(void) {
  const char* name = getenv("CAIP_STOP_COUNT");
  FILE* file = name ? fopen(name, "w") : NULL;
  if (!file) return;
  fprintf(file, "%ld\n", calls);
  fclose(file);
}

static int is_below(const char* path) { return below && strncmp(path, below, strlen(below)) == 0; }

static void count(const char* path) {
  if (!is_below(path)) return;
  if (__atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST) == stop_at) kill(getpid(), SIGKILL);
}

static void find_path(int fd, char path[PATH_MAX]) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t size = readlink(link, path, PATH_MAX - 1);
  path[size > 0 ? size : 0] = '\0';
}

static void count_file(int fd) {
  char path[PATH_MAX];
  find_path(fd, path);
  count(path);
}

// Whether the file has room. Otherwise errno says that it has none.
static int has_room(int fd) {
  const char* full = getenv("CAIP_FULL_BELOW");
  char path[PATH_MAX];
  if (!full) return 1;
  find_path(fd, path);
  if (strncmp(path, full, strlen(full)) != 0) return 1;
  errno = ENOSPC;
  return 0;
}

static void count_at(int directory, const char* path) {
  if (path[0] == '/')
    count(path);
  else
    count_file(directory);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define OF_FILE(result, name, declared, passed) \
  result name declared {                        \
    count_file(fd);                             \
    return NEXT(name) passed;                   \
  }
#define OF_BYTES(result, name, declared, passed)  \
  result name declared {                          \
    count_file(fd);                               \
    return has_room(fd) ? NEXT(name) passed : -1; \
  }
#define OF_PATH(name, declared, passed) \
  int name declared {                   \
    count(path);                        \
    return NEXT(name) passed;           \
  }
#define OF_PLACE(name, declared, passed) \
  int name declared {                    \
    count_at(at, path);                  \
    return NEXT(name) passed;            \
  }

OF_BYTES(ssize_t, write, (int fd, const void* bytes, size_t size), (fd, bytes, size))
OF_BYTES(ssize_t, pwrite, (int fd, const void* bytes, size_t size, off_t place),
         (fd, bytes, size, place))
OF_BYTES(ssize_t, pwrite64, (int fd, const void* bytes, size_t size, off64_t place),
         (fd, bytes, size, place))
OF_FILE(int, ftruncate, (int fd, off_t size), (fd, size))
OF_FILE(int, ftruncate64, (int fd, off64_t size), (fd, size))
OF_FILE(int, fsync, (int fd), (fd))
OF_FILE(int, fdatasync, (int fd), (fd))
OF_PATH(unlink, (const char* path), (path))
OF_PATH(remove, (const char* path), (path))
OF_PATH(rmdir, (const char* path), (path))
OF_PATH(mkdir, (const char* path, mode_t mode), (path, mode))
OF_PATH(rename, (const char* path, const char* to), (path, to))
OF_PLACE(unlinkat, (int at, const char* path, int flags), (at, path, flags))
OF_PLACE(mkdirat, (int at, const char* path, mode_t mode), (at, path, mode))
OF_PLACE(renameat, (int at, const char* path, int to, const char* name), (at, path, to, name))
OF_PLACE(linkat, (int at, const char* path, int to, const char* name, int flags),
         (at, path, to, name, flags))

int link(const char* path, const char* to) {
  const char* error = getenv("CAIP_LINK_ERROR");
  if (error && is_below(path)) {
    errno = atoi(error);
    return -1;
  }
  return NEXT(link)(path, to);
}

static int is_refused(const char* path, int flags) {
  const int writes = (flags & (O_WRONLY | O_RDWR | O_CREAT)) != 0;
  return writes && getenv("CAIP_READ_ONLY") && is_below(path);
}

static mode_t mode_of(int flags, va_list rest) {
  return (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
}

#define OPENS(name)                            \
  int name(const char* path, int flags, ...) { \
    va_list rest;                              \
    va_start(rest, flags);                     \
    const mode_t mode = mode_of(flags, rest);  \
    va_end(rest);                              \
    if ((flags & O_CREAT) != 0) count(path);   \
    if (is_refused(path, flags)) {             \
      errno = EROFS;                           \
      return -1;                               \
    }                                          \
    return NEXT(name)(path, flags, mode);      \
  }
OPENS(open)
OPENS(open64)

static void change_type(long* type) {
  const char* number = getenv("CAIP_STATFS_TYPE");
  if (number) *type = strtol(number, NULL, 0);
}

int statfs(const char* path, struct statfs* facts) {
  const int code = NEXT(statfs)(path, facts);
  if (code == 0 && below && strncmp(path, below, strlen(below)) == 0) change_type(&facts->f_type);
  return code;
}

int statfs64(const char* path, struct statfs64* facts) {
  const int code = NEXT(statfs64)(path, facts);
  if (code == 0 && below && strncmp(path, below, strlen(below)) == 0) change_type(&facts->f_type);
  return code;
}
