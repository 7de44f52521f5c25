#include "base/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "base/terminal_text.h"

namespace caip {
namespace {

Status WriteWhole(const Path& path, std::string_view bytes, bool durably, unsigned mode) {
  static std::atomic<unsigned> counter{0};
  Path temporary = path;
  temporary += ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
  Fd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!fd.valid()) return CannotCreate(temporary, errno);
  Status status = Ok{};
  if (!WriteAll(fd.get(), bytes)) status = CannotWrite(path, errno);
  if (status.ok() && durably && ::fsync(fd.get()) != 0) {
    status = CannotSync(path, errno);
  }
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0) {
    status = CannotRename(path, errno);
  }
  if (!status.ok()) {
    ::unlink(temporary.c_str());
    return status;
  }
  return durably ? SyncDirectory(path.parent_path()) : status;
}

constexpr int kOpenMax = 16;  // directories of one branch that are open

struct CloseDirectory {
  void operator()(DIR* opened) const { ::closedir(opened); }
};

struct Entry {
  std::string name;
  unsigned char type = DT_UNKNOWN;
};

/// One removal. A directory that is too deep moves to the top, which is emptied until it has none.
class TreeRemoval {
 public:
  /// 0, or the first errno.
  int Remove(int directory, const std::string& name) {
    RemoveEntry(directory, {name}, 0);
    return error_;
  }

 private:
  void RemoveEntry(int directory, const Entry& entry, int depth) {
    if (entry.type != DT_DIR && RemoveFile(directory, entry.name)) return;
    Fd opened = OpenToEmpty(directory, entry.name);
    if (!opened.valid()) return Note(errno);
    if (depth == kOpenMax) return MoveToTop(directory, entry.name);
    if (depth == 0) {
      EmptyTop(opened.get());
    } else {
      Empty(opened.get(), depth);
    }
    if (::unlinkat(directory, entry.name.c_str(), AT_REMOVEDIR) != 0) Note(errno);
  }

  // False if it is a directory.
  bool RemoveFile(int directory, const std::string& name) {
    if (::unlinkat(directory, name.c_str(), 0) == 0) return true;
    const int error = errno;
    struct stat status {};
    const bool exists = ::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
    if (exists && S_ISDIR(status.st_mode)) return false;
    if (exists) Note(error);
    return true;
  }

  void EmptyTop(int directory) {
    top_ = directory;
    do {
      moved_ = false;
      Empty(directory, 0);
    } while (moved_);
  }

  void Empty(int directory, int depth) {
    std::vector<Entry> entries;
    Fd opened(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!opened.valid()) return Note(errno);
    const std::unique_ptr<DIR, CloseDirectory> list(::fdopendir(opened.get()));
    if (!list) return Note(errno);
    (void)opened.Release();  // the list closes it
    while (const dirent* entry = ::readdir(list.get())) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") entries.push_back({std::string(name), entry->d_type});
    }
    for (const Entry& entry : entries) RemoveEntry(directory, entry, depth + 1);
  }

  // A trainer may have left a directory without permissions.
  static Fd OpenToEmpty(int directory, const std::string& name) {
    constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    Fd opened(::openat(directory, name.c_str(), kFlags));
    if (!opened.valid() && errno == EACCES) {
      ::fchmodat(directory, name.c_str(), S_IRWXU, 0);  // a directory, for a link fails with ELOOP
      opened = Fd(::openat(directory, name.c_str(), kFlags));
    }
    struct stat status {};
    if (opened.valid() && ::fstat(opened.get(), &status) == 0 &&
        (status.st_mode & S_IRWXU) != S_IRWXU) {
      ::fchmod(opened.get(), S_IRWXU);
    }
    return opened;
  }

  void MoveToTop(int directory, const std::string& name) {
    int error = 0;
    for (int tries = 0; tries < 1000; ++tries) {
      const std::string place = ".moved-" + std::to_string(places_++);
      if (::renameat(directory, name.c_str(), top_, place.c_str()) == 0) {
        moved_ = true;
        return;
      }
      error = errno;  // the place may be taken
    }
    Note(error);
  }

  void Note(int error) {
    if (error_ == 0 && error != ENOENT) error_ = error;
  }

  int top_ = -1;
  bool moved_ = false;
  uint64_t places_ = 0;
  int error_ = 0;
};

}  // namespace

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    Close();
    fd_ = other.Release();
  }
  return *this;
}

void Fd::Close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

Result<std::string> ReadFile(const Path& path) { return ReadFileUpTo(path, SIZE_MAX); }

Result<std::string> ReadFileUpTo(const Path& path, size_t limit) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return CannotOpen(path, errno);
  std::string bytes;
  char buffer[65536];
  while (true) {
    const ssize_t count = ::read(fd.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return CannotRead(path, errno);
    if (count == 0) return bytes;
    if (bytes.size() + static_cast<size_t>(count) > limit) {
      return errors::FileTooLarge(path.string(), limit);
    }
    bytes.append(buffer, static_cast<size_t>(count));
  }
}

Result<std::string> ReadPart(const Path& path, uint64_t place, size_t bytes) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd.valid()) return CannotOpen(path, errno);
  std::string part(bytes, '\0');
  size_t done = 0;
  while (done < bytes) {
    const ssize_t count =
        ::pread(fd.get(), part.data() + done, bytes - done, static_cast<off_t>(place + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return CannotRead(path, errno);
    if (count == 0) break;
    done += static_cast<size_t>(count);
  }
  part.resize(done);
  return part;
}

Status WriteFileDurably(const Path& path, std::string_view bytes, unsigned mode) {
  return WriteWhole(path, bytes, true, mode);
}

Status WriteFile(const Path& path, std::string_view bytes) {
  return WriteWhole(path, bytes, false, 0644);
}

Status MakeDirectories(const Path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return CannotMakeDirectory(path, error.value());
  return Ok{};
}

Status SyncDirectory(const Path& path) {
  Fd fd(::open(path.empty() ? "." : path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return CannotOpen(path, errno);
  if (::fsync(fd.get()) != 0) return CannotSync(path, errno);
  return Ok{};
}

namespace {

constexpr std::string_view kOwnerDigits = "0123456789";
constexpr size_t kRandomBytes = 6;  // of mkdtemp

Path CommonTemporaryDirectory() {
  const char* base = std::getenv("TMPDIR");
  return base ? base : "/tmp";
}

// Is it PREFIX, the number of a process, "." and mkdtemp's letters? Nobody else has such names.
bool IsOwnName(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return false;
  name.remove_prefix(prefix.size());
  const size_t dot = name.find_first_not_of(kOwnerDigits);
  return dot != 0 && dot != name.npos && name[dot] == '.' && name.size() == dot + 1 + kRandomBytes;
}

// The number of a process does not show whether it lives, because containers may share /tmp. Its
// lock does. Not valid: another program uses the directory, or it is not this user's.
Fd LockUnused(const Path& directory) {
  Fd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat facts = {};
  const bool is_own = fd.valid() && ::fstat(fd.get(), &facts) == 0 && facts.st_uid == ::geteuid();
  if (!is_own || ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) fd.Close();
  return fd;
}

// Is it PREFIX and mkdtemp's letters? People may choose such names, too.
bool IsNameWithoutProcess(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix) || name.size() != prefix.size() + kRandomBytes) return false;
  name.remove_prefix(prefix.size());
  return std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c); });
}

void RemoveUnused(const Path& parent, const std::function<bool(std::string_view)>& is_own) {
  std::vector<Path> found;
  std::error_code error;
  for (std::filesystem::directory_iterator at(parent, error), end; !error && at != end;
       at.increment(error)) {
    if (is_own(at->path().filename().string())) found.push_back(at->path());
  }
  for (const Path& left : found) {
    if (const Fd lock = LockUnused(left); lock.valid()) RemoveTree(left);
  }
}

// Locks a new directory. Without a file system that has locks, nobody removes what is left, either.
Result<Fd> LockNew(const Path& directory) {
  Fd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid()) return CannotOpen(directory, errno);
  while (::flock(fd.get(), LOCK_EX) != 0 && errno == EINTR) {
  }
  return fd;
}

bool IsRemoved(int directory) {
  struct stat facts = {};
  return ::fstat(directory, &facts) == 0 && facts.st_nlink == 0;
}

}  // namespace

Result<TemporaryDirectory> TemporaryDirectory::Make(std::string_view prefix) {
  return MakeLocked(CommonTemporaryDirectory(), prefix, " ($TMPDIR, else /tmp)");
}

Result<TemporaryDirectory> TemporaryDirectory::MakeIn(const Path& parent, std::string_view prefix) {
  return MakeLocked(parent, prefix, "");
}

// `place`: what an error says about the parent.
Result<TemporaryDirectory> TemporaryDirectory::MakeLocked(const Path& parent,
                                                          std::string_view prefix,
                                                          std::string_view place) {
  RemoveUnused(parent, [&](std::string_view name) { return IsOwnName(name, prefix); });
  const std::string name = std::string(prefix) + std::to_string(::getpid()) + ".XXXXXX";
  while (true) {
    std::string path = (parent / name).string();
    if (::mkdtemp(path.data()) == nullptr) {
      return SystemError("making the temporary directory " + path + std::string(place), errno);
    }
    TemporaryDirectory made(Made{path});
    auto lock = LockNew(made.path_);
    if (!lock.ok() && lock.error().code != Code::kNotFound) return lock.error();
    // Before it was locked, another program may have taken it for one that was left.
    if (!lock.ok() || IsRemoved(lock->get())) continue;
    made.lock_ = std::move(*lock);
    return made;
  }
}

void TemporaryDirectory::RemoveWithoutProcess(const Path& parent, std::string_view prefix) {
  RemoveUnused(parent, [&](std::string_view name) { return IsNameWithoutProcess(name, prefix); });
}

TemporaryDirectory::TemporaryDirectory(std::string_view prefix) {
  std::string path = (CommonTemporaryDirectory() / prefix).string() + "XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) {
    const Error error = CannotMakeDirectory(path, errno);
    WriteText(STDERR_FILENO, error.message + "\n");
    std::abort();
  }
  path_ = path;
}

TemporaryDirectory::~TemporaryDirectory() {
  if (!path_.empty()) RemoveTree(path_);
}

void RemoveTree(const Path& path) { [[maybe_unused]] const Status removed = EnsureRemoved(path); }

Status EnsureRemoved(const Path& path) { return RemoveTreeAt(AT_FDCWD, path); }

Status RemoveTreeAt(int directory, const std::string& name) {
  const int error = TreeRemoval().Remove(directory, name);
  errno = error;
  return error == 0 ? Status(Ok{}) : CannotRemove(name, error);
}

}  // namespace caip
