#include "emulator/cli/storage/local_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "emulator/cli/storage/storage_errors.h"

namespace caip::cli {
namespace {

constexpr size_t kPieceBytes = 1 << 20;

Result<uint64_t> SizeOf(int file, const Path& path) {
  struct stat status {};
  if (::fstat(file, &status) != 0) return errors::LocalFileFailed(path.string(), errno);
  return static_cast<uint64_t>(status.st_size);
}

// A file beside `path` that goes away unless it is renamed to it.
class FileBeside {
 public:
  explicit FileBeside(const Path& path)
      : path_(path), name_(path.string() + ".caip-" + std::to_string(::getpid())) {
    file_ = Fd(::open(name_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  }
  ~FileBeside() {
    if (file_.valid() && !is_renamed_) ::unlink(name_.c_str());
  }
  FileBeside(const FileBeside&) = delete;

  int get() const { return file_.get(); }
  bool Rename() { return is_renamed_ = ::rename(name_.c_str(), path_.c_str()) == 0; }

 private:
  Path path_;
  std::string name_;
  Fd file_;
  bool is_renamed_ = false;
};

}  // namespace

Result<FileBody> FileBody::Open(const Path& path) {
  Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return errors::LocalFileFailed(path.string(), errno);
  ASSIGN_OR_RETURN(const uint64_t size, SizeOf(file.get(), path));
  return FileBody(path, std::move(file), size);
}

Result<FileBody> FileBody::OfStandardInput() {
  ASSIGN_OR_RETURN(const TemporaryDirectory directory, TemporaryDirectory::Make("caip-cp-"));
  const Path path = directory.path() / "input";
  Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  std::string piece(kPieceBytes, '\0');
  while (file.valid()) {
    const ssize_t count = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errors::LocalFileFailed("the standard input", errno);
    if (count == 0) break;
    const bool is_written = WriteAll(file.get(), {piece.data(), static_cast<size_t>(count)});
    if (!is_written) return errors::LocalFileFailed(path.string(), errno);
  }
  if (!file.valid() || ::lseek(file.get(), 0, SEEK_SET) != 0) {
    return errors::LocalFileFailed(path.string(), errno);
  }
  ASSIGN_OR_RETURN(const uint64_t size, SizeOf(file.get(), path));
  return FileBody(path, std::move(file), size);  // it has no name any more
}

Result<size_t> FileBody::Read(char* buffer, size_t size) {
  while (true) {
    const ssize_t count = ::read(file_.get(), buffer, size);
    if (count >= 0) return static_cast<size_t>(count);
    if (errno != EINTR) return errors::LocalFileFailed(path_.string(), errno);
  }
}

Status FillFile(const Path& path,
                const std::function<Status(const std::function<bool(std::string_view)>&)>& fill) {
  if (path.has_parent_path()) RETURN_IF_ERROR(MakeDirectories(path.parent_path()));
  FileBeside file(path);
  if (file.get() < 0) return errors::LocalFileFailed(path.string(), errno);
  int failed = 0;
  const Status filled = fill([&](std::string_view bytes) {
    if (!WriteAll(file.get(), bytes)) failed = errno;
    return failed == 0;
  });
  if (failed != 0) return errors::LocalFileFailed(path.string(), failed);
  RETURN_IF_ERROR(filled);
  return file.Rename() ? Status(Ok{}) : Status(errors::LocalFileFailed(path.string(), errno));
}

}  // namespace caip::cli
