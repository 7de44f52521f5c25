#include "emulator/cli/storage/local_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

#include "emulator/app/attach/interrupt.h"
#include "emulator/cli/storage/storage_errors.h"

namespace caip::cli {
namespace {

constexpr size_t kPieceBytes = 1 << 20;

Result<uint64_t> SizeOf(int file, const Path& path) {
  struct stat status {};
  if (::fstat(file, &status) != 0) return errors::LocalFileFailed(path.string(), errno);
  return static_cast<uint64_t>(status.st_size);
}

// A file beside `path` that goes away unless it is renamed to it. It gets the mode of the old file.
class FileBeside {
 public:
  explicit FileBeside(const Path& path)
      : path_(path), name_(path.parent_path() / (".caip-" + std::to_string(::getpid()))) {
    file_ = Fd(::open(name_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    struct stat old {};
    if (file_.valid() && ::stat(path.c_str(), &old) == 0)
      ::fchmod(file_.get(), old.st_mode & 07777);
  }
  ~FileBeside() {
    if (file_.valid() && !is_renamed_) ::unlink(name_.c_str());
  }
  FileBeside(const FileBeside&) = delete;

  int get() const { return file_.get(); }
  bool Rename() { return is_renamed_ = ::rename(name_.c_str(), path_.c_str()) == 0; }

 private:
  Path path_;
  Path name_;
  Fd file_;
  bool is_renamed_ = false;
};

using Fill = std::function<Status(const std::function<bool(std::string_view)>&)>;

// Gives the file the bytes. An error of the file counts before one of their source.
Status FillOpen(int file, const Path& path, const Fill& fill) {
  int failed = 0;
  const Status filled = fill([&](std::string_view bytes) {
    if (app::InterruptGuard::Pending()) failed = EINTR;
    if (failed == 0 && !WriteAll(file, bytes)) failed = errno;
    return failed == 0;
  });
  return failed != 0 ? Status(errors::LocalFileFailed(path.string(), failed)) : filled;
}

// Copies what a descriptor gives to a file without a name.
Result<Fd> Spooled(int from, const Path& path) {
  ASSIGN_OR_RETURN(const TemporaryDirectory directory, TemporaryDirectory::Make("caip-cp-"));
  const Path place = directory.path() / "input";
  Fd file(::open(place.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.valid()) return errors::LocalFileFailed(place.string(), errno);
  std::string piece(kPieceBytes, '\0');
  while (true) {
    const ssize_t count = ::read(from, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errors::LocalFileFailed(path.string(), errno);
    if (count == 0) break;
    const bool is_written = WriteAll(file.get(), {piece.data(), static_cast<size_t>(count)});
    if (!is_written) return errors::LocalFileFailed(place.string(), errno);
  }
  if (::lseek(file.get(), 0, SEEK_SET) != 0) return errors::LocalFileFailed(place.string(), errno);
  return file;
}

}  // namespace

Result<FileBody> FileBody::Open(const Path& path) {
  Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return errors::LocalFileFailed(path.string(), errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return errors::LocalFileFailed(path.string(), errno);
  // Pipes, and files such as those of /proc, do not say how much they have.
  if (!S_ISREG(status.st_mode) || status.st_size == 0) {
    ASSIGN_OR_RETURN(file, Spooled(file.get(), path));
  }
  ASSIGN_OR_RETURN(const uint64_t size, SizeOf(file.get(), path));
  return FileBody(path, std::move(file), size);
}

Result<FileBody> FileBody::OfStandardInput() {
  const Path path = "the standard input";
  ASSIGN_OR_RETURN(Fd file, Spooled(STDIN_FILENO, path));
  ASSIGN_OR_RETURN(const uint64_t size, SizeOf(file.get(), path));
  return FileBody(path, std::move(file), size);
}

Result<size_t> FileBody::Read(char* buffer, size_t size) {
  while (true) {
    const ssize_t count = ::read(file_.get(), buffer, size);
    if (count >= 0) return static_cast<size_t>(count);
    if (errno != EINTR) return errors::LocalFileFailed(path_.string(), errno);
  }
}

Status FillFile(const Path& path, const Fill& fill) {
  struct stat old {};
  const bool is_there = ::stat(path.c_str(), &old) == 0;
  if (is_there && !S_ISREG(old.st_mode)) {  // a device or a pipe gets the bytes, and stays
    const Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file.valid()) return errors::LocalFileFailed(path.string(), errno);
    return FillOpen(file.get(), path, fill);
  }
  std::error_code error;
  const Path real = is_there ? std::filesystem::canonical(path, error) : path;
  if (real.has_parent_path()) RETURN_IF_ERROR(MakeDirectories(real.parent_path()));
  FileBeside file(real);
  if (file.get() < 0) return errors::LocalFileFailed(path.string(), errno);
  RETURN_IF_ERROR(FillOpen(file.get(), path, fill));
  return file.Rename() ? Status(Ok{}) : Status(errors::LocalFileFailed(path.string(), errno));
}

}  // namespace caip::cli
