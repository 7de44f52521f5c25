// Loaded into a watched replica's programs (LD_PRELOAD) where seccomp user notification is not
// available. Stands before the C library's file calls and asks caip at each whether to go on, as the
// kernel would have done. Needs nothing but the C library; keeps no state that a fork or a signal
// could find half changed: what it knows is read from the environment, once.

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
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/watch/preload/protocol.h"

#define SHOWN __attribute__((visibility("default")))

enum { kUnknown, kOff, kOutput, kFiles };
static volatile int watched = kUnknown;

static int Watched(void) {
  if (watched != kUnknown) return watched;
  const char* told = getenv(CAIP_WATCH_VARIABLE);
  watched = !told || !told[0] ? kOff : told[0] == 'f' ? kFiles : kOutput;
  return watched;
}

// The abstract socket's name is what follows the letter.
static socklen_t Address(struct sockaddr_un* address) {
  const char* told = getenv(CAIP_WATCH_VARIABLE);
  const size_t length = told ? strlen(told + 1) : 0;
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  if (length == 0 || length >= sizeof address->sun_path) return 0;
  memcpy(address->sun_path + 1, told + 1, length);
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
}

// Waits for the answer; -1 when caip is gone.
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

// Programs count on the lowest free number, which our socket had until now.
static int Lowest(int descriptor, int close_on_exec) {
  const int lowest = fcntl(descriptor, close_on_exec ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
  if (descriptor >= 0) syscall(SYS_close, descriptor);
  return lowest;
}

// Whether caip has answered in our place: then *result is the call's (errno is set).
static int Ask(int number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
               long* result) {
  const int before = errno;
  struct sockaddr_un address;
  const socklen_t size = Address(&address);
  const int socket_ = size ? socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0) : -1;
  if (size && socket_ < 0) {  // no descriptor is left for it: as if none were left for the call
    *result = -1;
    return 1;
  }
  const struct caip_watch_call call = {number, (int)syscall(SYS_gettid), {a, b, c, d, e, 0}};
  struct caip_watch_answer answer = {CAIP_WATCH_GO_ON, 0, 0};
  int descriptor = -1;
  if (connect(socket_, (struct sockaddr*)&address, size) != 0 ||
      send(socket_, &call, sizeof call, MSG_NOSIGNAL) != (ssize_t)sizeof call ||
      Receive(socket_, &answer, &descriptor) != 0) {
    answer.kind = CAIP_WATCH_GO_ON;  // caip is gone, and so are we in a moment
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

// The call, unless caip has answered it.
static long Call(int number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e) {
  long result = 0;
  if (Ask(number, a, b, c, d, e, &result)) return result;
  return syscall(number, a, b, c, d, e);
}

#define P(pointer) ((uint64_t)(uintptr_t)(pointer))

// What need not be asked: a write to a socket, the end of a descriptor that was only read.
static int IsOf(int descriptor, mode_t kind) {
  struct stat status;
  return fstat(descriptor, &status) == 0 && (status.st_mode & S_IFMT) == kind;
}

static int IsWritten(int descriptor) {
  const int before = errno;
  const int flags = Watched() == kFiles ? fcntl(descriptor, F_GETFL) : -1;
  const int is = flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && IsOf(descriptor, S_IFREG);
  errno = before;
  return is;
}

static int TakesOutput(int descriptor) {
  const int before = errno;
  const int is = Watched() != kOff && (IsOf(descriptor, S_IFIFO) || IsWritten(descriptor));
  errno = before;
  return is;
}

// Opening.

static int Open(int directory, const char* path, int flags, mode_t mode) {
  if (Watched() != kFiles) return (int)syscall(SYS_openat, directory, path, flags, mode);
  return (int)Call(SYS_openat, (uint64_t)(int64_t)directory, P(path), (uint64_t)(int64_t)flags,
                   mode, 0);
}

#define MODE_BEHIND(flags)                                   \
  mode_t mode = 0;                                           \
  if ((flags)&O_CREAT || ((flags)&O_TMPFILE) == O_TMPFILE) { \
    va_list more;                                            \
    va_start(more, flags);                                   \
    mode = va_arg(more, mode_t);                             \
    va_end(more);                                            \
  }

SHOWN int open(const char* path, int flags, ...) {
  MODE_BEHIND(flags)
  return Open(AT_FDCWD, path, flags, mode);
}
SHOWN int open64(const char* path, int flags, ...) {
  MODE_BEHIND(flags)
  return Open(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}
SHOWN int openat(int directory, const char* path, int flags, ...) {
  MODE_BEHIND(flags)
  return Open(directory, path, flags, mode);
}
SHOWN int openat64(int directory, const char* path, int flags, ...) {
  MODE_BEHIND(flags)
  return Open(directory, path, flags | O_LARGEFILE, mode);
}
SHOWN int creat(const char* path, mode_t mode) {
  return Open(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}
SHOWN int creat64(const char* path, mode_t mode) {
  return Open(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC | O_LARGEFILE, mode);
}
// What a compiler makes of open() with checks.
SHOWN int __open_2(const char* path, int flags) { return Open(AT_FDCWD, path, flags, 0); }
SHOWN int __open64_2(const char* path, int flags) {
  return Open(AT_FDCWD, path, flags | O_LARGEFILE, 0);
}
SHOWN int __openat_2(int directory, const char* path, int flags) {
  return Open(directory, path, flags, 0);
}
SHOWN int __openat64_2(int directory, const char* path, int flags) {
  return Open(directory, path, flags | O_LARGEFILE, 0);
}

// Names.

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

SHOWN int rename(const char* from, const char* to) {
  return Rename(AT_FDCWD, from, AT_FDCWD, to, 0);
}
SHOWN int renameat(int from_directory, const char* from, int to_directory, const char* to) {
  return Rename(from_directory, from, to_directory, to, 0);
}
SHOWN int renameat2(int from_directory, const char* from, int to_directory, const char* to,
                    unsigned flags) {
  return Rename(from_directory, from, to_directory, to, flags);
}
SHOWN int unlink(const char* path) { return Unlink(AT_FDCWD, path, 0); }
SHOWN int unlinkat(int directory, const char* path, int flags) {
  return Unlink(directory, path, flags);
}
SHOWN int rmdir(const char* path) { return Unlink(AT_FDCWD, path, AT_REMOVEDIR); }
SHOWN int remove(const char* path) {
  const int before = errno;
  struct stat status;
  const int is_directory = lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
  errno = before;
  return Unlink(AT_FDCWD, path, is_directory ? AT_REMOVEDIR : 0);
}

// Bytes.

SHOWN ssize_t write(int descriptor, const void* bytes, size_t size) {
  if (!TakesOutput(descriptor)) return syscall(SYS_write, descriptor, bytes, size);
  return Call(SYS_write, (uint64_t)descriptor, P(bytes), size, 0, 0);
}
SHOWN ssize_t writev(int descriptor, const struct iovec* parts, int count) {
  if (!TakesOutput(descriptor)) return syscall(SYS_writev, descriptor, parts, count);
  return Call(SYS_writev, (uint64_t)descriptor, P(parts), (uint64_t)count, 0, 0);
}
SHOWN ssize_t pwrite64(int descriptor, const void* bytes, size_t size, off64_t place) {
  if (!TakesOutput(descriptor)) return syscall(SYS_pwrite64, descriptor, bytes, size, place);
  return Call(SYS_pwrite64, (uint64_t)descriptor, P(bytes), size, (uint64_t)place, 0);
}
SHOWN ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t place) {
  return pwrite64(descriptor, bytes, size, place);
}

// Copies are refused as by a kernel that cannot: programs read and write, then, and caip sees it.
static int IsRefused(int target) {
  if (!TakesOutput(target)) return 0;
  errno = EINVAL;
  return 1;
}

SHOWN ssize_t sendfile(int target, int source, off_t* place, size_t size) {
  return IsRefused(target) ? -1 : syscall(SYS_sendfile, target, source, place, size);
}
SHOWN ssize_t sendfile64(int target, int source, off64_t* place, size_t size) {
  return IsRefused(target) ? -1 : syscall(SYS_sendfile, target, source, place, size);
}
SHOWN ssize_t splice(int source, off64_t* from, int target, off64_t* to, size_t size,
                     unsigned flags) {
  if (IsRefused(target)) return -1;
  return syscall(SYS_splice, source, from, target, to, size, flags);
}
SHOWN ssize_t copy_file_range(int source, off64_t* from, int target, off64_t* to, size_t size,
                              unsigned flags) {
  if (IsRefused(target)) return -1;
  return syscall(SYS_copy_file_range, source, from, target, to, size, flags);
}

// Ends.

SHOWN int close(int descriptor) {
  long failed = 0;
  if (IsWritten(descriptor)) Ask(SYS_close, (uint64_t)descriptor, 0, 0, 0, 0, &failed);
  const int why = errno;
  const int closed = (int)syscall(SYS_close, descriptor);  // what fails is closed all the same
  if (!failed) return closed;
  errno = why;
  return -1;
}
SHOWN int dup3(int from, int to, int flags) {
  if (from == to || !IsWritten(to)) return (int)syscall(SYS_dup3, from, to, flags);
  return (int)Call(SYS_dup3, (uint64_t)from, (uint64_t)to, (uint64_t)flags, 0, 0);
}
SHOWN int dup2(int from, int to) {
  if (from == to) return fcntl(from, F_GETFL) < 0 ? -1 : to;
  return dup3(from, to, 0);
}

static void TellOfExit(void) {
  long ignored;
  if (Watched() == kFiles) Ask(SYS_exit_group, 0, 0, 0, 0, 0, &ignored);
}

__attribute__((destructor)) static void Ends(void) { TellOfExit(); }

SHOWN void _exit(int code) {
  TellOfExit();
  for (;;) syscall(SYS_exit_group, code);
}
SHOWN void _Exit(int code) { _exit(code); }

SHOWN DIR* opendir(const char* path) {
  static DIR* (*real)(const char*);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "opendir");
  if (Watched() != kFiles) return real(path);
  const int descriptor = Open(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_DIRECTORY | O_CLOEXEC, 0);
  if (descriptor < 0) return NULL;
  DIR* directory = fdopendir(descriptor);
  if (!directory) close(descriptor);
  return directory;
}

// A listing, reported once, when its first entry is read. caip lists the directory by a descriptor
// of its own, for what it reads of ours we would miss.
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

SHOWN struct dirent64* readdir64(DIR* directory) {
  static struct dirent64* (*real)(DIR*);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "readdir64");
  return MayList(directory) ? real(directory) : NULL;
}
SHOWN struct dirent* readdir(DIR* directory) {
  static struct dirent* (*real)(DIR*);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "readdir");
  return MayList(directory) ? real(directory) : NULL;
}

// Streams of the C library: they are opened and closed here; what they write goes past us.

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

SHOWN FILE* fopen(const char* path, const char* mode) {
  static FILE* (*real)(const char*, const char*);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "fopen");
  const int known = mode[0] && strchr("rwa", mode[0]) && !strchr(mode, ',');
  return Watched() == kFiles && known ? OpenStream(path, mode) : real(path, mode);
}
SHOWN FILE* fopen64(const char* path, const char* mode) { return fopen(path, mode); }

SHOWN int fclose(FILE* stream) {
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
