#include "host/watch/replica_root.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

namespace caip::host {
namespace {

constexpr int kTriesMax = 100;  // the kernel asks for another while files are renamed
constexpr std::string_view kDeletedMark = " (deleted)";

// The flags of open(2) that openat2 takes. open(2) ignores all others.
constexpr int kOpenFlags = O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND |
                           O_NONBLOCK | O_SYNC | O_DSYNC | O_ASYNC | O_DIRECT | O_DIRECTORY |
                           O_NOFOLLOW | O_NOATIME | O_PATH | O_CLOEXEC;

int OpenAt(int directory, const std::string& path, int flags, mode_t mode, uint64_t resolve) {
  open_how how{};
  how.flags = static_cast<uint64_t>((flags & kOpenFlags) | O_CLOEXEC);
  how.mode = flags & O_CREAT ? mode : 0;
  how.resolve = resolve;
  int opened = -1;
  for (int tries = 0; tries < kTriesMax && opened < 0; ++tries) {
    opened = static_cast<int>(::syscall(SYS_openat2, directory, path.c_str(), &how, sizeof how));
    if (opened < 0 && errno != EAGAIN) break;
  }
  return opened;
}

std::optional<struct stat> StatOpenFile(const Fd& file) {
  struct stat status {};
  if (!file.valid() || ::fstat(file.get(), &status) != 0) return std::nullopt;
  return status;
}

bool IsRootOfThisProcess(int root) {
  struct stat own {};
  struct stat other {};
  return ::stat("/", &own) == 0 && ::fstat(root, &other) == 0 && own.st_dev == other.st_dev &&
         own.st_ino == other.st_ino;
}

}  // namespace

ReplicaRoot ReplicaRoot::Of(pid_t process) {
  ReplicaRoot replica;
  const std::string root = "/proc/" + std::to_string(process) + "/root";
  replica.root_ = Fd(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  replica.is_own_ = replica.root_.valid() && IsRootOfThisProcess(replica.root_.get());
  return replica;
}

Fd ReplicaRoot::Open(const std::string& path, int flags, mode_t mode) const {
  if (!(flags & O_PATH) && caller_.Find()) return OpenForCaller(path, flags, mode);
  if (is_own_) return Fd(::open(path.c_str(), flags | O_CLOEXEC, mode));
  return Fd(OpenAt(root_.get(), path, flags, mode, RESOLVE_IN_ROOT));
}

// In the file's directory, because the caller may have no rights in those above it: a program can
// keep its working directory and change its user. Of another root, a link would lead out of it.
Fd ReplicaRoot::OpenForCaller(const std::string& path, int flags, mode_t mode) const {
  const auto place = PlaceOf(path);
  if (!place) return Fd();
  const TakenRights taken(caller_.Find());
  if (is_own_) {
    return Fd(::openat(place->directory, place->name.c_str(), flags | O_CLOEXEC, mode));
  }
  return Fd(OpenAt(place->directory, place->name, flags, mode, RESOLVE_NO_SYMLINKS));
}

// The kernel shows the path of an open file as the namespace of its mount has it. It adds a mark to
// the path if the file has lost this name, for instance because another replica has just replaced
// it.
std::optional<std::string> ReplicaRoot::Resolve(const std::string& path) const {
  for (int tries = 0; tries < kTriesMax; ++tries) {
    const Fd file = Open(path, O_PATH, 0);
    if (!file.valid()) return std::nullopt;
    std::error_code error;
    const Path link = "/proc/self/fd/" + std::to_string(file.get());
    std::string resolved = std::filesystem::read_symlink(link, error).string();
    if (error || !resolved.starts_with('/')) return std::nullopt;
    if (!resolved.ends_with(kDeletedMark) || IsName(resolved, file.get())) return resolved;
    resolved.resize(resolved.size() - kDeletedMark.size());
    if (IsName(resolved, file.get())) return resolved;
  }
  return std::nullopt;
}

// Whether the path leads to the file that is open.
bool ReplicaRoot::IsName(const std::string& path, int file) const {
  struct stat open {};
  const auto found = Stat(path);
  return found && ::fstat(file, &open) == 0 && open.st_dev == found->st_dev &&
         open.st_ino == found->st_ino;
}

std::optional<struct stat> ReplicaRoot::Stat(const std::string& path) const {
  return StatOpenFile(Open(path, O_PATH, 0));
}

std::optional<struct stat> ReplicaRoot::StatLink(const std::string& path) const {
  return StatOpenFile(Open(path, O_PATH | O_NOFOLLOW, 0));
}

std::optional<ReplicaRoot::Place> ReplicaRoot::PlaceOf(const std::string& path) const {
  if (is_own_ && !caller_.Find()) return Place{Fd(), AT_FDCWD, path};
  const size_t slash = path.rfind('/');
  Fd directory = Open(path.substr(0, slash + 1), O_PATH | O_DIRECTORY, 0);
  if (!directory.valid()) return std::nullopt;
  const int number = directory.get();
  return Place{std::move(directory), number, path.substr(slash + 1)};
}

bool ReplicaRoot::Rename(const std::string& from, const std::string& to, unsigned flags) const {
  const auto old_place = PlaceOf(from);
  const auto new_place = old_place ? PlaceOf(to) : std::nullopt;
  const TakenRights taken(caller_.Find());
  return new_place && ::syscall(SYS_renameat2, old_place->directory, old_place->name.c_str(),
                                new_place->directory, new_place->name.c_str(), flags) == 0;
}

bool ReplicaRoot::Remove(const std::string& path, bool is_directory) const {
  const auto place = PlaceOf(path);
  const int flags = is_directory ? AT_REMOVEDIR : 0;
  const TakenRights taken(caller_.Find());
  return place && ::unlinkat(place->directory, place->name.c_str(), flags) == 0;
}

bool ReplicaRoot::MakeDirectory(const std::string& path, mode_t mode) const {
  const auto place = PlaceOf(path);
  const TakenRights taken(caller_.Find());
  if (!place || ::mkdirat(place->directory, place->name.c_str(), mode) != 0) return false;
  struct stat made {};  // its group may be that of the directory that it is in
  if (::fstatat(place->directory, place->name.c_str(), &made, AT_SYMLINK_NOFOLLOW) != 0) {
    return false;
  }
  const mode_t wanted = mode | (made.st_mode & S_ISGID);
  // A change of the mode would take S_ISGID from a caller who is not in the group.
  if ((made.st_mode & 07777) == wanted) return true;
  return ::fchmodat(place->directory, place->name.c_str(), wanted, 0) == 0;
}

bool ReplicaRoot::Link(const std::string& existing, const std::string& path) const {
  const auto from = PlaceOf(existing);
  const auto to = from ? PlaceOf(path) : std::nullopt;
  const TakenRights taken(caller_.Find());
  return to &&
         ::linkat(from->directory, from->name.c_str(), to->directory, to->name.c_str(), 0) == 0;
}

bool ReplicaRoot::Symlink(const std::string& text, const std::string& path) const {
  const auto place = PlaceOf(path);
  const TakenRights taken(caller_.Find());
  return place && ::symlinkat(text.c_str(), place->directory, place->name.c_str()) == 0;
}

}  // namespace caip::host
