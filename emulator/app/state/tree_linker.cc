#include "emulator/app/state/tree_linker.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "emulator/app/state/state_errors.h"
#include "fakes/gcs/store/bucket_tree.h"

namespace caip::app {
namespace {

namespace fs = std::filesystem;

constexpr size_t kCopyPieceBytes = 1 << 20;

// Other errors would also end a copy.
bool MayBeCopied(int error_number) {
  return error_number == EPERM || error_number == EXDEV || error_number == EMLINK ||
         error_number == EACCES || error_number == EOPNOTSUPP || error_number == ENOSYS;
}

}  // namespace

Status TreeLinker::Link() {
  RETURN_IF_ERROR(MakeDirectories(to_));
  return Walk("", true);
}

std::vector<TreeEntry> TreeLinker::TakeEntries() {
  std::sort(entries_.begin(), entries_.end());
  return std::move(entries_);
}

Status TreeLinker::Walk(const std::string& folder, bool links) {
  std::error_code error;
  std::vector<std::string> folders;
  for (fs::directory_iterator at(from_ / folder, error), end; !error && at != end;
       at.increment(error)) {
    RETURN_IF_ERROR(check_());
    const std::string path = (Path(folder) / at->path().filename()).string();
    struct stat facts = {};
    if (::lstat(at->path().c_str(), &facts) != 0) continue;  // it has gone
    if (S_ISDIR(facts.st_mode)) folders.push_back(path);
    if (!S_ISDIR(facts.st_mode) && !S_ISREG(facts.st_mode)) continue;
    entries_.emplace_back(path, facts.st_ino);
    if (links) RETURN_IF_ERROR(Repeat(path, S_ISDIR(facts.st_mode)));
  }
  const bool has_gone = error.value() == ENOENT || error.value() == ENOTDIR;
  if (error && !has_gone) return CannotLookAt(from_ / folder, error.value());
  for (const std::string& path : folders) RETURN_IF_ERROR(Walk(path, links));
  return Ok{};
}

Status TreeLinker::Repeat(const std::string& path, bool is_folder) {
  const Path to = to_ / path;
  if (is_folder) {
    const bool made = ::mkdir(to.c_str(), 0700) == 0 || errno == EEXIST;
    return made ? Status(Ok{}) : Status(CannotMakeDirectory(to, errno));
  }
  if (::link((from_ / path).c_str(), to.c_str()) == 0 || errno == ENOENT) return Ok{};
  return MayBeCopied(errno) ? Copy(from_ / path, to)
                            : Status(errors::CannotLink(from_ / path, errno));
}

// The copy has the time of the original, by which records know it.
Status TreeLinker::Copy(const Path& from, const Path& to) {
  const Fd original(::open(from.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!original.valid()) return errno == ENOENT ? Status(Ok{}) : Status(CannotRead(from, errno));
  struct stat facts = {};
  if (::fstat(original.get(), &facts) != 0) return CannotLookAt(from, errno);
  if (!S_ISREG(facts.st_mode)) return Ok{};  // replaced since
  const Fd copy(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!copy.valid()) return CannotCreate(to, errno);
  if (::ioctl(copy.get(), FICLONE, original.get()) != 0) {
    RETURN_IF_ERROR(CopyBytes(original, copy, from));
  }
  const timespec times[2] = {{0, UTIME_OMIT}, facts.st_mtim};
  struct stat made = {};
  if (::fchmod(copy.get(), facts.st_mode & 0777) != 0 || ::futimens(copy.get(), times) != 0 ||
      ::fstat(copy.get(), &made) != 0) {
    return CannotProtect(to, errno);
  }
  copies_[{facts.st_ino, gcs::IdentityOf(facts).modified_ns}] = made.st_ino;
  return Ok{};
}

Status TreeLinker::CopyBytes(const Fd& from, const Fd& to, const Path& file) const {
  std::string piece(kCopyPieceBytes, '\0');
  while (true) {
    RETURN_IF_ERROR(check_());
    const ssize_t count = ::read(from.get(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return CannotRead(file, errno);
    if (count == 0) return Ok{};
    if (!WriteAll(to.get(), std::string_view(piece).substr(0, static_cast<size_t>(count)))) {
      return errors::CannotCopy(file, errno);
    }
  }
}

}  // namespace caip::app
