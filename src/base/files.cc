#include "base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

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

Result<TemporaryDirectory> TemporaryDirectory::MakeIn(const Path& parent, std::string_view prefix) {
  std::string pattern = (parent / prefix).string() + "XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) {
    return SystemError("making the temporary directory " + pattern, errno);
  }
  return TemporaryDirectory(Made{pattern});
}

Result<TemporaryDirectory> TemporaryDirectory::Make(std::string_view prefix) {
  const char* base = std::getenv("TMPDIR");
  std::string pattern = (Path(base ? base : "/tmp") / prefix).string() + "XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) {
    return SystemError("making the temporary directory " + pattern + " ($TMPDIR, else /tmp)",
                       errno);
  }
  return TemporaryDirectory(Made{pattern});
}

TemporaryDirectory::TemporaryDirectory(std::string_view prefix) {
  auto made = Make(prefix);
  if (!made.ok()) {
    std::fprintf(stderr, "%s\n", made.error().message.c_str());
    std::abort();
  }
  path_ = std::exchange(made->path_, Path());
}

TemporaryDirectory::~TemporaryDirectory() {
  if (!path_.empty()) RemoveTree(path_);
}

void RemoveTree(const Path& path) { [[maybe_unused]] const Status removed = EnsureRemoved(path); }

Status EnsureRemoved(const Path& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (!error) return Ok{};
  // A trainer may have left directories without permissions. Add them and try once more.
  for (auto it = std::filesystem::recursive_directory_iterator(
           path, std::filesystem::directory_options::skip_permission_denied, error);
       !error && it != std::filesystem::recursive_directory_iterator(); it.increment(error)) {
    std::error_code ignored;
    if (it->is_directory(ignored) && !it->is_symlink(ignored)) {
      ::chmod(it->path().c_str(), 0700);
    }
  }
  error.clear();
  std::filesystem::remove_all(path, error);
  return error ? Status(CannotRemove(path, error.value())) : Ok{};
}

}  // namespace caip
