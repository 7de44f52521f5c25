// Loaded by LD_PRELOAD into the programs of a watched replica on hosts without seccomp user
// notification. Replaces the C library's file calls: each asks caip whether to continue, as the
// kernel would have done. Needs only the C library. Keeps no state that a fork or a signal could
// find half changed: it reads its settings from the environment, once. This file has the calls for
// names, directories and streams.

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/watch/preload/protocol.h"
#include "host/watch/preload/watching.h"

static volatile int watched = kUnknown;

int Watched(void) {
  if (watched != kUnknown) return watched;
  const char* setting = getenv(CAIP_WATCH_VARIABLE);
  watched = !setting || !setting[0] ? kOff : setting[0] == 'f' ? kFiles : kOutput;
  return watched;
}

// The name of the socket follows the first letter. A zero byte precedes an abstract name, and ends
// a path.
static socklen_t Address(struct sockaddr_un* address) {
  const char* setting = getenv(CAIP_WATCH_VARIABLE);
  const size_t length = setting ? strlen(setting + 1) : 0;
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  if (length == 0 || length >= sizeof address->sun_path) return 0;
  memcpy(address->sun_path + (setting[1] != '/'), setting + 1, length);
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
}

// Waits for the answer; -1 if caip has ended.
static int Receive(int socket, struct caip_watch_answer* answer, int* descriptor) {
  union {
    struct cmsghdr aligned;
    char room[CMSG_SPACE(sizeof(int))];
  } control;
  struct iovec bytes = {answer, sizeof *answer};
  struct msghdr message;
  memset(&message, 0, sizeof message);
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control.room;
  message.msg_controllen = sizeof control.room;
  ssize_t count;
  do {
    count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (count < 0 && errno == EINTR);
  if (count != (ssize_t)sizeof *answer) return -1;
  struct cmsghdr* part = CMSG_FIRSTHDR(&message);
  if (part && part->cmsg_type == SCM_RIGHTS) memcpy(descriptor, CMSG_DATA(part), sizeof(int));
  return 0;
}

// Moves the descriptor to the lowest free number, on which programs rely. caip's socket had that
// number until now.
static int Lowest(int descriptor, int close_on_exec) {
  const int lowest = fcntl(descriptor, close_on_exec ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
  if (descriptor >= 0) syscall(SYS_close, descriptor);
  return lowest;
}

// Returns whether caip has answered the call. Then *result is the call's result, and errno is set.
int Ask(int number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, long* result) {
  const int before = errno;
  struct sockaddr_un address;
  const socklen_t size = Address(&address);
  const int socket_ = size ? socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0) : -1;
  // no descriptor is free for the socket: the call fails as if it had found none
  if (size && socket_ < 0) {
    *result = -1;
    return 1;
  }
  const struct caip_watch_call call = {number, (int)syscall(SYS_gettid), {a, b, c, d, e, 0}};
  struct caip_watch_answer answer = {CAIP_WATCH_GO_ON, 0, 0};
  int descriptor = -1;
  if (connect(socket_, (struct sockaddr*)&address, size) != 0 ||
      send(socket_, &call, sizeof call, MSG_NOSIGNAL) != (ssize_t)sizeof call ||
      Receive(socket_, &answer, &descriptor) != 0) {
    answer.kind = CAIP_WATCH_GO_ON;  // caip has ended, and will end this process
  }
  if (socket_ >= 0) syscall(SYS_close, socket_);
  errno = before;
  if (answer.kind == CAIP_WATCH_GO_ON) return 0;
  *result =
      answer.kind == CAIP_WATCH_DESCRIPTOR ? Lowest(descriptor, answer.value != 0) : answer.value;
  if (answer.error) {
    errno = answer.error;
    *result = -1;
  }
  return 1;
}

// Makes the call, unless caip has answered it.
long Call(int number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e) {
  long result = 0;
  if (Ask(number, a, b, c, d, e, &result)) return result;
  return syscall(number, a, b, c, d, e);
}

// The next functions find calls that caip need not see: a write to a socket, the close of a
// descriptor that was only read.
static int IsOf(int descriptor, mode_t kind) {
  struct stat status;
  return fstat(descriptor, &status) == 0 && (status.st_mode & S_IFMT) == kind;
}

int IsWritten(int descriptor) {
  const int before = errno;
  const int flags = Watched() == kFiles ? fcntl(descriptor, F_GETFL) : -1;
  const int is = flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && IsOf(descriptor, S_IFREG);
  errno = before;
  return is;
}

int TakesOutput(int descriptor) {
  const int before = errno;
  const int is = Watched() != kOff &&
                 (IsOf(descriptor, S_IFIFO) || IsWritten(descriptor) || isatty(descriptor));
  errno = before;
  return is;
}

// Calls that open files.

static int Open(int directory, const char* path, int flags, mode_t mode) {
  if (Watched() != kFiles) return (int)syscall(SYS_openat, directory, path, flags, mode);
  return (int)Call(SYS_openat, (uint64_t)(int64_t)directory, P(path), (uint64_t)(int64_t)flags,
                   mode, 0);
}

#define MODE_AFTER(flags)                                    \
  mode_t mode = 0;                                           \
  if ((flags)&O_CREAT || ((flags)&O_TMPFILE) == O_TMPFILE) { \
    va_list more;                                            \
    va_start(more, flags);                                   \
    mode = va_arg(more, mode_t);                             \
    va_end(more);                                            \
  }

EXPORTED int open(const char* path, int flags, ...) {
  MODE_AFTER(flags)
  return Open(AT_FDCWD, path, flags, mode);
}
EXPORTED int open64(const char* path, int flags, ...) {
  MODE_AFTER(flags)
  return Open(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}
EXPORTED int openat(int directory, const char* path, int flags, ...) {
  MODE_AFTER(flags)
  return Open(directory, path, flags, mode);
}
EXPORTED int openat64(int directory, const char* path, int flags, ...) {
  MODE_AFTER(flags)
  return Open(directory, path, flags | O_LARGEFILE, mode);
}
EXPORTED int creat(const char* path, mode_t mode) {
  return Open(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}
EXPORTED int creat64(const char* path, mode_t mode) {
  return Open(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC | O_LARGEFILE, mode);
}
// Compilers call these functions for open() with checks.
EXPORTED int __open_2(const char* path, int flags) { return Open(AT_FDCWD, path, flags, 0); }
EXPORTED int __open64_2(const char* path, int flags) {
  return Open(AT_FDCWD, path, flags | O_LARGEFILE, 0);
}
EXPORTED int __openat_2(int directory, const char* path, int flags) {
  return Open(directory, path, flags, 0);
}
EXPORTED int __openat64_2(int directory, const char* path, int flags) {
  return Open(directory, path, flags | O_LARGEFILE, 0);
}

// Calls that rename and delete files.

static int Rename(int from_directory, const char* from, int to_directory, const char* to,
                  unsigned flags) {
  if (Watched() != kFiles) {
    return (int)syscall(SYS_renameat2, from_directory, from, to_directory, to, flags);
  }
  return (int)Call(SYS_renameat2, (uint64_t)(int64_t)from_directory, P(from),
                   (uint64_t)(int64_t)to_directory, P(to), flags);
}

static int Unlink(int directory, const char* path, int flags) {
  if (Watched() != kFiles) return (int)syscall(SYS_unlinkat, directory, path, flags);
  return (int)Call(SYS_unlinkat, (uint64_t)(int64_t)directory, P(path), (uint64_t)(int64_t)flags, 0,
                   0);
}

EXPORTED int rename(const char* from, const char* to) {
  return Rename(AT_FDCWD, from, AT_FDCWD, to, 0);
}
EXPORTED int renameat(int from_directory, const char* from, int to_directory, const char* to) {
  return Rename(from_directory, from, to_directory, to, 0);
}
EXPORTED int renameat2(int from_directory, const char* from, int to_directory, const char* to,
                       unsigned flags) {
  return Rename(from_directory, from, to_directory, to, flags);
}
EXPORTED int unlink(const char* path) { return Unlink(AT_FDCWD, path, 0); }
EXPORTED int unlinkat(int directory, const char* path, int flags) {
  return Unlink(directory, path, flags);
}
EXPORTED int rmdir(const char* path) { return Unlink(AT_FDCWD, path, AT_REMOVEDIR); }
EXPORTED int remove(const char* path) {
  const int before = errno;
  struct stat status;
  const int is_directory = lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
  errno = before;
  return Unlink(AT_FDCWD, path, is_directory ? AT_REMOVEDIR : 0);
}

// Calls that make directories and further names.

EXPORTED int mkdirat(int directory, const char* path, mode_t mode) {
  if (Watched() != kFiles) return (int)syscall(SYS_mkdirat, directory, path, mode);
  return (int)Call(SYS_mkdirat, (uint64_t)(int64_t)directory, P(path), mode, 0, 0);
}
EXPORTED int mkdir(const char* path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }
EXPORTED int linkat(int from_directory, const char* from, int to_directory, const char* to,
                    int flags) {
  if (Watched() != kFiles) {
    return (int)syscall(SYS_linkat, from_directory, from, to_directory, to, flags);
  }
  return (int)Call(SYS_linkat, (uint64_t)(int64_t)from_directory, P(from),
                   (uint64_t)(int64_t)to_directory, P(to), (uint64_t)flags);
}
EXPORTED int link(const char* from, const char* to) {
  return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}
EXPORTED int symlinkat(const char* text, int directory, const char* path) {
  if (Watched() != kFiles) return (int)syscall(SYS_symlinkat, text, directory, path);
  return (int)Call(SYS_symlinkat, P(text), (uint64_t)(int64_t)directory, P(path), 0, 0);
}
EXPORTED int symlink(const char* text, const char* path) { return symlinkat(text, AT_FDCWD, path); }

EXPORTED DIR* opendir(const char* path) {
  static DIR* (*real)(const char*);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "opendir");
  if (Watched() != kFiles) return real(path);
  const int descriptor = Open(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_DIRECTORY | O_CLOEXEC, 0);
  if (descriptor < 0) return NULL;
  DIR* directory = fdopendir(descriptor);
  if (!directory) close(descriptor);
  return directory;
}

// Whether the directory may be listed. Reports a listing once, when its first entry is read. caip
// lists the directory through another descriptor, because entries that caip reads through this one
// would be missing here.
static int MayList(DIR* directory) {
  if (Watched() != kFiles || telldir(directory) != 0) return 1;
  const int before = errno;
  const int again =
      (int)syscall(SYS_openat, dirfd(directory), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  char entries[1024];
  long listed = 0;
  if (again >= 0) Ask(SYS_getdents64, (uint64_t)again, P(entries), sizeof entries, 0, 0, &listed);
  const int refused = listed < 0 ? errno : 0;
  if (again >= 0) syscall(SYS_close, again);
  errno = refused ? refused : before;
  return !refused;
}

EXPORTED struct dirent64* readdir64(DIR* directory) {
  static struct dirent64* (*real)(DIR*);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "readdir64");
  return MayList(directory) ? real(directory) : NULL;
}
EXPORTED struct dirent* readdir(DIR* directory) {
  static struct dirent* (*real)(DIR*);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "readdir");
  return MayList(directory) ? real(directory) : NULL;
}

// caip cannot see otherwise that the user or the group for files is another one than the process's.

static int SetForFiles(int number, unsigned id) {
  long result = 0;
  if (Watched() == kFiles) Ask(number, id, 0, 0, 0, 0, &result);
  return (int)syscall(number, id);
}

EXPORTED int setfsuid(uid_t user) { return SetForFiles(SYS_setfsuid, user); }
EXPORTED int setfsgid(gid_t group) { return SetForFiles(SYS_setfsgid, group); }

// Streams of the C library. This library reports their opening and closing only, because their
// writes bypass this library.

static int FlagsOf(const char* mode) {
  const int both = strchr(mode, '+') != NULL;
  const int more = (strchr(mode, 'x') ? O_EXCL : 0) | (strchr(mode, 'e') ? O_CLOEXEC : 0);
  if (mode[0] == 'r') return more | (both ? O_RDWR : O_RDONLY);
  const int kind = mode[0] == 'w' ? O_TRUNC : O_APPEND;
  return more | kind | O_CREAT | (both ? O_RDWR : O_WRONLY);
}

static FILE* OpenStream(const char* path, const char* mode) {
  const int descriptor = Open(AT_FDCWD, path, FlagsOf(mode) | O_LARGEFILE, 0666);
  if (descriptor < 0) return NULL;
  FILE* stream = fdopen(descriptor, mode);
  if (!stream) close(descriptor);
  return stream;
}

EXPORTED FILE* fopen(const char* path, const char* mode) {
  static FILE* (*real)(const char*, const char*);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "fopen");
  const int known = mode[0] && strchr("rwa", mode[0]) && !strchr(mode, ',');
  return Watched() == kFiles && known ? OpenStream(path, mode) : real(path, mode);
}
EXPORTED FILE* fopen64(const char* path, const char* mode) { return fopen(path, mode); }

EXPORTED int fclose(FILE* stream) {
  static int (*real)(FILE*);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "fclose");
  const int descriptor = fileno(stream);
  long failed = 0;
  if (descriptor >= 0 && IsWritten(descriptor) && fflush(stream) == 0) {
    Ask(SYS_close, (uint64_t)descriptor, 0, 0, 0, 0, &failed);
  }
  const int why = errno;
  const int closed = real(stream);
  if (!failed) return closed;
  errno = why;
  return EOF;
}
