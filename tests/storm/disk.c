// A library for LD_PRELOAD. It journals all changes of files that the first process makes which
// loads it, for a simulated power cut, and it can refuse changes as a full or read-only disk does.
// power_cut.py reads the journal. Child processes do not get the library.
//
// CAIP_STORM_JOURNAL: file for the journal.
// CAIP_STORM_GRAVES: directory on the file system of the watched files. Each removed file gets a
// link there, so that its inode stays and its number is not used again. CAIP_STORM_FAULT: file of 4
// bytes: the error number that changes of files get now; 0: none.
//
// CAIP_STORM_BOOT: file that is read instead of the kernel's boot_id, which a power cut changes.
//
// A record is written after the change has been made, under one lock. So an fsync that is in the
// journal comes after all writes that it covers. Changes of mapped files are not seen: SQLite's
// -shm file needs none.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

struct record {
  uint32_t kind, name_length, data_length, mode;
  uint64_t inode, other, more, flags;
};

static int journal = -1, graves = -1;
static dev_t device;
static pid_t owner;
static uint64_t records, buried;
static const _Atomic int* fault;
static char boot[PATH_MAX];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void begin(void) {
  const char *file = getenv("CAIP_STORM_JOURNAL"), *yard = getenv("CAIP_STORM_GRAVES"),
             *control = getenv("CAIP_STORM_FAULT");
  if (control) {
    int fd = syscall(SYS_openat, AT_FDCWD, control, O_RDONLY | O_CLOEXEC);
    void* page = mmap(NULL, sizeof(int), PROT_READ, MAP_SHARED, fd, 0);
    if (fd < 0 || page == MAP_FAILED) abort();
    struct stat status;
    if (fstat(fd, &status) != 0) abort();
    device = status.st_dev;
    syscall(SYS_close, fd);
    fault = page;
  }
  if (file && yard) {
    struct stat status;
    journal = syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    graves = syscall(SYS_openat, AT_FDCWD, yard, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (journal < 0 || graves < 0 || fstat(graves, &status) != 0) abort();
    device = status.st_dev;
  }
  const char* boot_id = getenv("CAIP_STORM_BOOT");
  if (boot_id) snprintf(boot, sizeof boot, "%s", boot_id);
  owner = getpid();
  unsetenv("LD_PRELOAD");
  unsetenv("CAIP_STORM_BOOT");
  unsetenv("CAIP_STORM_JOURNAL");
  unsetenv("CAIP_STORM_GRAVES");
  unsetenv("CAIP_STORM_FAULT");
}

static int enter(void) {
  if (owner == 0 || getpid() != owner) return 0;
  pthread_mutex_lock(&mutex);
  return 1;
}

static long leave(int entered, long result) {
  const int error = errno;
  if (entered) pthread_mutex_unlock(&mutex);
  errno = error;
  return result;
}

static int refused(void) {
  const int error = fault && owner == getpid() ? atomic_load(fault) : 0;
  if (error) errno = error;
  return error;
}

static void put(struct record record, const char* name, const void* data) {
  if (journal < 0) return;
  record.name_length = name ? strlen(name) : 0;
  struct iovec parts[] = {{&record, sizeof record},
                          {(void*)name, record.name_length},
                          {(void*)data, record.data_length}};
  const int error = errno;
  const ssize_t size = sizeof record + record.name_length + record.data_length;
  if (syscall(SYS_writev, journal, parts, 3) != size) abort();
  errno = error;
  ++records;
}

// The directory and the last name of a path. 0: it is not on the watched file system.
static uint64_t parent_of(int at, const char* path, char leaf[NAME_MAX + 1]) {
  char copy[PATH_MAX];
  struct stat status;
  size_t length = strnlen(path, sizeof copy - 1);
  memcpy(copy, path, length);
  while (length > 1 && copy[length - 1] == '/') --length;
  copy[length] = 0;
  char* slash = strrchr(copy, '/');
  snprintf(leaf, NAME_MAX + 1, "%.*s", NAME_MAX, slash ? slash + 1 : copy);
  const char* directory = slash == copy ? "/" : slash ? copy : ".";
  if (slash && slash != copy) *slash = 0;
  if (fstatat(at, directory, &status, 0) != 0 || status.st_dev != device) return 0;
  return status.st_ino;
}

static void bury(int at, const char* path) {
  struct stat status;
  char name[32];
  if (journal < 0 || fstatat(at, path, &status, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (!S_ISREG(status.st_mode) || status.st_dev != device || status.st_nlink != 1) return;
  snprintf(name, sizeof name, "%lu", (unsigned long)buried++);
  syscall(SYS_linkat, at, path, graves, name, 0);
}

static void put_name(uint32_t kind, int at, const char* path, const char* data) {
  char leaf[NAME_MAX + 1];
  struct stat status = {0};
  const int error = errno;
  const uint64_t parent = journal < 0 ? 0 : parent_of(at, path, leaf);
  if (parent) {
    fstatat(at, path, &status, AT_SYMLINK_NOFOLLOW);
    put((struct record){kind, 0, data ? strlen(data) : 0, status.st_mode, parent, status.st_ino, 0,
                        0},
        leaf, data);
  }
  errno = error;
}

static int is_watched(int fd, struct stat* status) {
  const int error = errno;
  const int watched = fd > 2 && owner != 0 && fstat(fd, status) == 0 && S_ISREG(status->st_mode) &&
                      status->st_dev == device;
  errno = error;
  return watched;
}

static void put_sync(const struct stat* status, uint64_t began) {
  const uint64_t modified = status->st_mtim.tv_sec * 1000000000ULL + status->st_mtim.tv_nsec;
  put((struct record){'S', 0, 0, 0, status->st_ino, began, modified, 0}, NULL, NULL);
}

// Journals bytes that are in the file now.
static void put_bytes(int fd, uint64_t inode, off_t offset, size_t size) {
  static char piece[1 << 16];
  while (journal >= 0 && size > 0) {
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const int again = syscall(SYS_openat, AT_FDCWD, link, O_RDONLY | O_CLOEXEC);
    const ssize_t count =
        syscall(SYS_pread64, again, piece, size < sizeof piece ? size : sizeof piece, offset);
    syscall(SYS_close, again);
    if (count <= 0) return;
    put((struct record){'W', 0, count, 0, inode, offset, 0, 0}, NULL, piece);
    offset += count;
    size -= count;
  }
}

static void put_written(int fd, off_t offset, ssize_t count) {
  struct stat status;
  const int error = errno;
  if (count > 0 && journal >= 0) {
    if (offset < 0) offset = lseek(fd, 0, SEEK_CUR) - count;
    fstat(fd, &status);
    if (fcntl(fd, F_GETFL) & O_APPEND) offset = status.st_size - count;
    put_bytes(fd, status.st_ino, offset, count);
    if (fcntl(fd, F_GETFL) & O_DSYNC) {
      fstat(fd, &status);
      put_sync(&status, records);
    }
  }
  errno = error;
}

static int do_open(int at, const char* path, int flags, mode_t mode) {
  if (boot[0] && strcmp(path, "/proc/sys/kernel/random/boot_id") == 0) path = boot;
  const int makes = flags & (O_CREAT | O_TRUNC) && (flags & O_TMPFILE) != O_TMPFILE;
  const int changes = (flags & O_ACCMODE) != O_RDONLY;
  struct stat before, after;
  if (!makes && !(changes && fault)) return syscall(SYS_openat, at, path, flags, mode);
  const int existed = fstatat(at, path, &before, flags & O_NOFOLLOW ? AT_SYMLINK_NOFOLLOW : 0) == 0;
  const int device_file = existed && !S_ISREG(before.st_mode);
  if (!device_file && refused() && (errno != ENOSPC || (!existed && flags & O_CREAT))) return -1;
  if (!makes || device_file) return syscall(SYS_openat, at, path, flags, mode);
  const int entered = enter();
  const int existed_now =
      fstatat(at, path, &before, flags & O_NOFOLLOW ? AT_SYMLINK_NOFOLLOW : 0) == 0;
  const int fd = syscall(SYS_openat, at, path, flags, mode);
  if (entered && fd >= 0 && fstat(fd, &after) == 0 && S_ISREG(after.st_mode)) {
    if (!existed_now)
      put_name('C', at, path, NULL);
    else if (flags & O_TRUNC)
      put((struct record){'T', 0, 0, 0, after.st_ino, 0, 0, 0}, NULL, NULL);
  }
  return leave(entered, fd);
}

#define MODE_OF(flags)                                       \
  mode_t mode = 0;                                           \
  if ((flags)&O_CREAT || ((flags)&O_TMPFILE) == O_TMPFILE) { \
    va_list more;                                            \
    va_start(more, flags);                                   \
    mode = va_arg(more, mode_t);                             \
    va_end(more);                                            \
  }

int open(const char* path, int flags, ...) {
  MODE_OF(flags);
  return do_open(AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  MODE_OF(flags);
  return do_open(AT_FDCWD, path, flags, mode);
}
int openat(int at, const char* path, int flags, ...) {
  MODE_OF(flags);
  return do_open(at, path, flags, mode);
}
int openat64(int at, const char* path, int flags, ...) {
  MODE_OF(flags);
  return do_open(at, path, flags, mode);
}
int __open_2(const char* path, int flags) { return do_open(AT_FDCWD, path, flags, 0); }
int __open64_2(const char* path, int flags) { return do_open(AT_FDCWD, path, flags, 0); }
int __openat_2(int at, const char* path, int flags) { return do_open(at, path, flags, 0); }
int __openat64_2(int at, const char* path, int flags) { return do_open(at, path, flags, 0); }
int creat(const char* path, mode_t mode) {
  return do_open(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

#define WRITTEN(fd, offset, call)              \
  struct stat status;                          \
  if (!is_watched(fd, &status)) return call;   \
  if (refused()) return -1;                    \
  const int entered = enter();                 \
  const ssize_t count = call;                  \
  if (entered) put_written(fd, offset, count); \
  return leave(entered, count)

// A full disk often takes the first page of a write.
static size_t taken(int fd, size_t size) {
  struct stat status;
  const int full = fault && atomic_load(fault) == ENOSPC && size > 4096 && is_watched(fd, &status);
  return full && status.st_size / 4096 % 2 ? 4096 : 0;
}

ssize_t write(int fd, const void* bytes, size_t size) {
  WRITTEN(fd, -1, syscall(SYS_write, fd, bytes, size));
}
ssize_t writev(int fd, const struct iovec* parts, int number) {
  WRITTEN(fd, -1, syscall(SYS_writev, fd, parts, number));
}
ssize_t pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  const size_t part = taken(fd, size);
  if (part) return syscall(SYS_pwrite64, fd, bytes, part, offset);
  WRITTEN(fd, offset, syscall(SYS_pwrite64, fd, bytes, size, offset));
}
ssize_t pwrite64(int fd, const void* bytes, size_t size, off64_t offset) {
  return pwrite(fd, bytes, size, offset);
}
ssize_t pwritev(int fd, const struct iovec* parts, int number, off_t offset) {
  WRITTEN(fd, offset, syscall(SYS_pwritev, fd, parts, number, offset, 0));
}
ssize_t pwritev64(int fd, const struct iovec* parts, int number, off64_t offset) {
  return pwritev(fd, parts, number, offset);
}
ssize_t sendfile(int to, int from, off_t* offset, size_t size) {
  WRITTEN(to, -1, syscall(SYS_sendfile, to, from, offset, size));
}
ssize_t sendfile64(int to, int from, off64_t* offset, size_t size) {
  return sendfile(to, from, offset, size);
}
ssize_t copy_file_range(int from, off64_t* in, int to, off64_t* out, size_t size, unsigned flags) {
  const off_t offset = out ? *out : -1;
  WRITTEN(to, offset, syscall(SYS_copy_file_range, from, in, to, out, size, flags));
}

static int resized(int fd, long result, int entered) {
  struct stat status;
  const int error = errno;
  if (entered && result == 0 && fstat(fd, &status) == 0) {
    put((struct record){'T', 0, 0, 0, status.st_ino, status.st_size, 0, 0}, NULL, NULL);
  }
  errno = error;
  return leave(entered, result);
}

int ftruncate(int fd, off_t size) {
  struct stat status;
  if (!is_watched(fd, &status)) return syscall(SYS_ftruncate, fd, size);
  if (refused() && errno != ENOSPC) return -1;
  const int entered = enter();
  return resized(fd, syscall(SYS_ftruncate, fd, size), entered);
}
int ftruncate64(int fd, off64_t size) { return ftruncate(fd, size); }
int truncate(const char* path, off_t size) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  const int result = ftruncate(fd, size);
  close(fd);
  return result;
}
int truncate64(const char* path, off64_t size) { return truncate(path, size); }
int fallocate(int fd, int mode, off_t offset, off_t size) {
  struct stat status;
  if (!is_watched(fd, &status)) return syscall(SYS_fallocate, fd, mode, offset, size);
  if (refused()) return -1;
  const int entered = enter();
  return resized(fd, syscall(SYS_fallocate, fd, mode, offset, size), entered);
}
int fallocate64(int fd, int mode, off64_t offset, off64_t size) {
  return fallocate(fd, mode, offset, size);
}
int posix_fallocate(int fd, off_t offset, off_t size) {
  return fallocate(fd, 0, offset, size) == 0 ? 0 : errno;
}
int posix_fallocate64(int fd, off64_t offset, off64_t size) {
  return posix_fallocate(fd, offset, size);
}

int ioctl(int fd, unsigned long request, ...) {
  va_list more;
  va_start(more, request);
  void* argument = va_arg(more, void*);
  va_end(more);
  struct stat status;
  if ((request != FICLONE && request != FICLONERANGE) || !is_watched(fd, &status)) {
    return syscall(SYS_ioctl, fd, request, argument);
  }
  if (refused()) return -1;
  const int entered = enter();
  const int result = syscall(SYS_ioctl, fd, request, argument);
  if (entered && result == 0 && fstat(fd, &status) == 0)
    put_bytes(fd, status.st_ino, 0, status.st_size);
  return leave(entered, result);
}

static int synced(int fd, long number) {
  struct stat status;
  int entered = enter();
  const uint64_t began = records;
  leave(entered, 0);
  if (refused() && errno != ENOSPC) return -1;
  const int result = syscall(number, fd);
  const int error = errno;
  entered = enter();
  if (entered && result == 0 && fstat(fd, &status) == 0 && status.st_dev == device) {
    if (number == SYS_syncfs)
      put((struct record){'A', 0, 0, 0, 0, began, 0, 0}, NULL, NULL);
    else
      put_sync(&status, began);
  }
  errno = error;
  return leave(entered, result);
}

int fsync(int fd) { return synced(fd, SYS_fsync); }
int fdatasync(int fd) { return synced(fd, SYS_fdatasync); }
int syncfs(int fd) { return synced(fd, SYS_syncfs); }

int mkdirat(int at, const char* path, mode_t mode) {
  if (refused()) return -1;
  const int entered = enter();
  const int result = syscall(SYS_mkdirat, at, path, mode);
  if (entered && result == 0) put_name('M', at, path, NULL);
  return leave(entered, result);
}
int mkdir(const char* path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

int symlinkat(const char* target, int at, const char* path) {
  if (refused()) return -1;
  const int entered = enter();
  const int result = syscall(SYS_symlinkat, target, at, path);
  if (entered && result == 0) put_name('Y', at, path, target);
  return leave(entered, result);
}
int symlink(const char* target, const char* path) { return symlinkat(target, AT_FDCWD, path); }

int linkat(int from, const char* old, int to, const char* path, int flags) {
  if (refused()) return -1;
  const int entered = enter();
  const int result = syscall(SYS_linkat, from, old, to, path, flags);
  if (entered && result == 0) put_name('L', to, path, NULL);
  return leave(entered, result);
}
int link(const char* old, const char* path) { return linkat(AT_FDCWD, old, AT_FDCWD, path, 0); }

int unlinkat(int at, const char* path, int flags) {
  if (refused() && errno != ENOSPC) return -1;
  const int entered = enter();
  if (entered && !(flags & AT_REMOVEDIR)) bury(at, path);
  const int result = syscall(SYS_unlinkat, at, path, flags);
  if (entered && result == 0) put_name('U', at, path, NULL);
  return leave(entered, result);
}
int unlink(const char* path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char* path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }
int remove(const char* path) {
  const int result = unlinkat(AT_FDCWD, path, 0);
  return result != 0 && errno == EISDIR ? rmdir(path) : result;
}

int renameat2(int from, const char* old, int to, const char* path, unsigned flags) {
  char leaf[NAME_MAX + 1], target[NAME_MAX + 1];
  struct stat status = {0};
  if (refused()) return -1;
  const int entered = enter();
  if (entered && !(flags & RENAME_NOREPLACE)) bury(to, path);
  const int result = syscall(SYS_renameat2, from, old, to, path, flags);
  if (entered && result == 0 && journal >= 0) {
    const uint64_t source = parent_of(from, old, leaf), parent = parent_of(to, path, target);
    fstatat(to, path, &status, AT_SYMLINK_NOFOLLOW);
    put((struct record){'R', 0, strlen(target), status.st_mode, source, parent, status.st_ino,
                        flags},
        leaf, target);
  }
  return leave(entered, result);
}
int renameat(int from, const char* old, int to, const char* path) {
  return renameat2(from, old, to, path, 0);
}
int rename(const char* old, const char* path) {
  return renameat2(AT_FDCWD, old, AT_FDCWD, path, 0);
}
