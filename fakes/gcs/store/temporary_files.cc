#include "fakes/gcs/store/temporary_files.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <ctime>
#include <utility>

#include "fakes/gcs/store/file_errors.h"

namespace caip::gcs {
namespace {

constexpr int kTemporaryFlags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;
constexpr Duration kUsualTime = std::chrono::microseconds(40);  // of a file on a busy machine
constexpr int kFolderTries = 10;
constexpr int kTopDirectory = 0x00020000;  // FS_TOPDIR_FL, which not all versions of fs.h have

Duration ThreadTime() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// Asks ext4 to place the directories in here far from each other. Other filesystems refuse.
void PlaceFoldersApart(int directory) {
  int flags = 0;
  if (::ioctl(directory, FS_IOC_GETFLAGS, &flags) != 0 || (flags & kTopDirectory) != 0) return;
  flags |= kTopDirectory;
  (void)::ioctl(directory, FS_IOC_SETFLAGS, &flags);
}

bool IsSameDirectory(int a, int b) {
  struct stat status_a {};
  struct stat status_b {};
  return ::fstat(a, &status_a) == 0 && ::fstat(b, &status_b) == 0 &&
         status_a.st_dev == status_b.st_dev && status_a.st_ino == status_b.st_ino;
}

}  // namespace

Result<Fd> OpenOwnDirectory(int root, const Path& shown) {
  const std::string name = shown.filename();
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  Fd fd(::openat(root, name.c_str(), kFlags));
  if (!fd.valid() && (errno == ENOTDIR || errno == ELOOP)) {
    ::unlinkat(root, name.c_str(), 0);
    errno = ENOENT;
  }
  if (!fd.valid() && errno == ENOENT &&
      (::mkdirat(root, name.c_str(), 0777) == 0 || errno == EEXIST)) {  // by another thread
    fd = Fd(::openat(root, name.c_str(), kFlags));
  }
  if (!fd.valid()) return CannotOpen(shown, errno);
  return fd;
}

Result<bool> RenewOwnDirectory(int root, const Path& shown, const Fd& own) {
  ASSIGN_OR_RETURN(const Fd now, OpenOwnDirectory(root, shown));
  if (IsSameDirectory(now.get(), own.get())) return false;
  if (::fsync(root) != 0) return errors::CannotSyncBuckets(errno);
  if (::dup3(now.get(), own.get(), O_CLOEXEC) < 0) return CannotOpen(shown, errno);
  return true;
}

TemporaryFiles::TemporaryFiles(int directory, Duration patience)
    : directory_(directory), patience_(patience) {
  if (patience_ == Duration(0)) MakeFolder();
}

TemporaryFiles::~TemporaryFiles() {
  if (!folder_.empty()) old_.push_back(std::move(folder_));
  RemoveOldFolders();
}

std::string TemporaryFiles::NewName() {
  static std::atomic<uint64_t> counter{0};
  return std::to_string(::getpid()) + "-" + std::to_string(counter++);
}

TemporaryFiles::File TemporaryFiles::Make() {
  File file;
  for (int tries = 0; tries < kFolderTries; ++tries) {
    const std::string folder = Folder();
    file.name = folder + NewName();
    const Duration before = ThreadTime();
    file.fd = Fd(::openat(directory_, file.name.c_str(), kTemporaryFlags, 0666));
    if (file.fd.valid()) {
      CountTime(folder, ThreadTime() - before);
      return file;
    }
    if (errno != ENOENT || folder.empty()) return file;
    LeaveFolder(folder);
  }
  return file;
}

std::string TemporaryFiles::Folder() const {
  const std::lock_guard lock(mutex_);
  return folder_;
}

// Another thread has removed the directory because a new one is in use, or a person has.
void TemporaryFiles::LeaveFolder(const std::string& folder) {
  const std::lock_guard lock(mutex_);
  if (folder_ == folder) folder_.clear();
}

void TemporaryFiles::LeaveFolders() {
  const std::lock_guard lock(mutex_);
  makes_folders_ = false;
  folder_.clear();
  old_.clear();
}

void TemporaryFiles::CountTime(const std::string& folder, Duration taken) {
  if (taken <= kUsualTime && patience_ > Duration(0)) return;
  const std::lock_guard lock(mutex_);
  if (!makes_folders_ || folder != folder_) return;
  excess_ += taken - std::min(taken, kUsualTime);
  if (excess_ < patience_) return;
  excess_ = Duration(0);
  MakeFolder();
}

// The caller holds the mutex. If no directory can be made, the present one stays in use.
void TemporaryFiles::MakeFolder() {
  if (folder_.empty()) PlaceFoldersApart(directory_);
  const std::string name = NewName();
  if (::mkdirat(directory_, name.c_str(), 0777) != 0) return;
  if (!folder_.empty()) old_.push_back(folder_);
  folder_ = name + "/";
  RemoveOldFolders();
}

// Those that still have files are tried again with the next directory.
void TemporaryFiles::RemoveOldFolders() {
  std::erase_if(old_, [this](const std::string& folder) {
    return ::unlinkat(directory_, folder.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT;
  });
}

std::vector<std::string> FilesIn(const Path& temporary) {
  std::vector<std::string> files;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator at(temporary, error), end; !error && at != end;
       at.increment(error)) {
    struct stat status {};
    if (::lstat(at->path().c_str(), &status) == 0 && !S_ISDIR(status.st_mode)) {
      files.push_back(at->path().lexically_relative(temporary));
    }
  }
  return files;
}

}  // namespace caip::gcs
