#include "emulator/app/state/restoring_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "emulator/app/state/state_errors.h"

namespace caip::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInMountPoint = ".restoring";
constexpr std::string_view kLostFiles = "lost+found";  // at the root of many file systems

bool IsMountPoint(const Path& directory) {
  struct statx facts = {};
  if (::statx(AT_FDCWD, directory.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &facts) != 0) {
    return false;
  }
  if ((facts.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) != 0) {
    return (facts.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
  }
  struct stat itself = {};
  struct stat above = {};
  return ::stat(directory.c_str(), &itself) == 0 &&
         ::stat(directory.parent_path().c_str(), &above) == 0 && itself.st_dev != above.st_dev;
}

Result<std::vector<Path>> EntriesOf(const Path& directory) {
  std::error_code error;
  std::vector<Path> entries;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    entries.push_back(at->path());
  }
  if (error) return CannotLookAt(directory, error.value());
  std::sort(entries.begin(), entries.end());
  return entries;
}

}  // namespace

bool IsBeingRestored(const Path& state) {
  std::error_code error;
  return fs::exists(fs::symlink_status(state / kInMountPoint, error));
}

Result<Path> ResolveState(const Path& directory) {
  const Path state = directory.has_filename() ? directory : directory.parent_path();
  std::error_code error;
  if (!fs::is_symlink(fs::symlink_status(state, error))) return state;
  const Path target = fs::canonical(state, error);
  if (error) return errors::StateLinkBroken(state, fs::read_symlink(state, error));
  return target;
}

Status CheckIsEmpty(const Path& state) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(state, error);
  if (!fs::exists(status)) return Ok{};
  if (!fs::is_directory(status)) return errors::StateNotEmpty(state, "");
  ASSIGN_OR_RETURN(std::vector<Path> entries, EntriesOf(state));
  std::erase_if(entries, [](const Path& entry) {
    return entry.filename() == kLostFiles || entry.filename() == kInMountPoint;
  });
  if (entries.empty()) return Ok{};
  if (IsBeingRestored(state)) return errors::RestoreUnfinished(state);
  return errors::StateNotEmpty(state, entries.front().filename().string());
}

RestoringDirectory::RestoringDirectory(RestoringDirectory&& other) noexcept
    : path_(std::exchange(other.path_, Path())), fd_(std::move(other.fd_)) {}

RestoringDirectory::~RestoringDirectory() {
  if (!path_.empty()) RemoveTree(path_);
}

Result<RestoringDirectory> RestoringDirectory::Make(const Path& state) {
  std::error_code error;
  const bool exists = fs::is_directory(state, error);
  if (exists && IsMountPoint(state)) return MakeIn(state);
  RETURN_IF_ERROR(MakeDirectories(state.parent_path()));
  auto beside =
      MakeAt(state.parent_path() / ("." + state.filename().string() + ".restoring"), state);
  const bool is_refused = !beside.ok() && beside.error().code == Code::kPermissionDenied;
  return exists && is_refused ? MakeIn(state) : std::move(beside);
}

// The directory becomes a state, which only its owner may use.
Result<RestoringDirectory> RestoringDirectory::MakeIn(const Path& state) {
  if (::chmod(state.c_str(), 0700) != 0) return CannotProtect(state, errno);
  return MakeAt(state / kInMountPoint, state);
}

Result<RestoringDirectory> RestoringDirectory::MakeAt(const Path& path, const Path& state) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return CannotMakeDirectory(path, errno);
  Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd.valid()) return CannotOpen(path, errno);
  // Another user who may write to it could lead the files elsewhere.
  struct stat facts {};
  if (::fstat(fd.get(), &facts) != 0) return CannotOpen(path, errno);
  if (facts.st_uid != ::geteuid() || (facts.st_mode & 077) != 0) {
    return errors::RestoringElsewhere(path);
  }
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return errors::RestoreRuns(state);
  RestoringDirectory made(path, std::move(fd));
  RETURN_IF_ERROR(made.Empty());
  return made;
}

Status RestoringDirectory::Become(const Path& state) {
  if (::syncfs(fd_.get()) != 0) return CannotSync(path_, errno);
  return path_.filename() == kInMountPoint ? MoveUp(state) : Rename(state);
}

Status RestoringDirectory::Rename(const Path& state) {
  if (::rename(path_.c_str(), state.c_str()) != 0) {
    const int why = errno;
    RETURN_IF_ERROR(CheckIsEmpty(state));  // another process may have put something there
    return CannotRename(state, why);
  }
  path_.clear();
  return SyncDirectory(state.parent_path());
}

// As long as this directory exists, the other one is not a state.
Status RestoringDirectory::MoveUp(const Path& state) {
  ASSIGN_OR_RETURN(const std::vector<Path> entries, EntriesOf(path_));
  const Path here = std::exchange(path_, Path());  // half of its files must not be lost
  for (const Path& entry : entries) {
    const Path to = state / entry.filename();
    if (::rename(entry.c_str(), to.c_str()) != 0) return CannotRename(to, errno);
  }
  RETURN_IF_ERROR(SyncDirectory(state));
  if (::rmdir(here.c_str()) != 0) return CannotMove(here, errno);
  return SyncDirectory(state);
}

// A restoration that was killed leaves files.
Status RestoringDirectory::Empty() const {
  ASSIGN_OR_RETURN(const std::vector<Path> entries, EntriesOf(path_));
  for (const Path& entry : entries) RemoveTree(entry);
  return Ok{};
}

}  // namespace caip::app
