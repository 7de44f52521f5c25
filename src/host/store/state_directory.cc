#include "host/store/state_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string_view>

#include "base/json.h"
#include "base/text.h"
#include "base/time_text.h"
#include "host/errors.h"

namespace caip::host {
namespace {

constexpr const char* kLockName = "owner.lock";
// The fixed length of the note lets one write replace it, so that no reader sees half a note.
constexpr size_t kNoteBytes = 1024;

// Open-file-description locks belong to one opening of the file (fcntl's plain locks belong to the
// process), end with its last descriptor, and can be tested without being taken.
struct flock WholeFile() {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

Result<bool> TakeLock(int fd, const Path& path) {
  struct flock lock = WholeFile();
  if (::fcntl(fd, F_OFD_SETLK, &lock) == 0) return true;
  if (errno == EAGAIN || errno == EACCES) return false;
  return CannotLock(path, errno);
}

Result<bool> IsLocked(int fd, const Path& path) {
  struct flock lock = WholeFile();
  if (::fcntl(fd, F_OFD_GETLK, &lock) != 0) {
    return errors::CannotLookAtLock(path.string(), errno);
  }
  return lock.l_type != F_UNLCK;
}

Status WriteNote(int fd, const StateOwner& owner, const Path& path) {
  const Json note = {{"pid", owner.pid},
                     {"start_ticks", owner.start_ticks},
                     {"url", owner.url},
                     {"version", owner.version},
                     {"started_at", owner.started_at}};
  std::string text = CompactJson(note);
  assert(text.size() < kNoteBytes);
  text.resize(kNoteBytes - 1, ' ');
  text += '\n';
  if (::pwrite(fd, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return CannotWrite(path, errno);
  }
  return Ok{};
}

std::optional<StateOwner> ReadNote(int fd) {
  char buffer[kNoteBytes];
  const ssize_t count = ::pread(fd, buffer, sizeof buffer, 0);
  if (count <= 0) return std::nullopt;
  const auto note = ParseJson(std::string_view(buffer, static_cast<size_t>(count)));
  if (!note.ok()) return std::nullopt;
  return StateOwner{static_cast<pid_t>(IntOr(*note, "pid", 0)),
                    static_cast<uint64_t>(IntOr(*note, "start_ticks", 0)), StringOr(*note, "url"),
                    StringOr(*note, "version"), StringOr(*note, "started_at")};
}

// Other users could read secrets, or plant a package that runs as this user.
Status CloseToOthers(const Path& path, mode_t mode) {
  if ((mode & 0077) == 0) return Ok{};
  if (::chmod(path.c_str(), mode & 07700) == 0) return Ok{};
  return errors::StateOpenToOthers(path, errno);
}

// Others may have written into the directory before it is closed: a configuration that runs their
// programs, or keys that they know. What they made is refused; what they could only change is
// closed.
Status CheckEntriesAreOwn(const Path& path) {
  std::error_code error;
  for (std::filesystem::directory_iterator at(path, error), end; !error && at != end;
       at.increment(error)) {
    struct stat facts = {};
    if (::lstat(at->path().c_str(), &facts) != 0) continue;  // it has gone
    if (facts.st_uid != ::geteuid()) {
      return errors::StateEntryOfAnotherUser(at->path(), facts.st_uid);
    }
    if (S_ISREG(facts.st_mode) && (facts.st_mode & S_IWOTH) != 0) {
      return errors::StateEntryWritable(at->path());
    }
    if (!S_ISLNK(facts.st_mode)) RETURN_IF_ERROR(CloseToOthers(at->path(), facts.st_mode));
  }
  if (error) return CannotLookAt(path, error.value());
  return Ok{};
}

// What people, clients and scenarios put into a state directory before its first owner.
constexpr std::string_view kEarlyNames[] = {
    "access.log",
    "algorithms",
    "buckets",
    "ca",
    "clocks",
    "config.yaml",
    "environments",
    "gcloud",
    "images",
    "interpreters.json",
    "keys",
    "machines.json",
    "package-sources.json",
    "package-sources.jsonl",
    "python",
    "runtimes",
    "scenarios",
    "sdists",
    "server.log",
};

bool IsClosedToOthers(const Path& path) {
  struct stat facts = {};
  return ::stat(path.c_str(), &facts) == 0 && (facts.st_mode & 0077) == 0;
}

// A directory of the system or of another program must not be closed by mistake. A state directory
// has the lock of its first owner, or nothing but what is put there before. Another caip that
// starts at the same time closes the directory before it makes anything in it.
Status CheckIsForState(const Path& path) {
  struct stat lock = {};
  const bool has_own_lock = ::lstat((path / kLockName).c_str(), &lock) == 0 &&
                            S_ISREG(lock.st_mode) && lock.st_uid == ::geteuid();
  if (has_own_lock) return Ok{};
  std::error_code error;
  for (std::filesystem::directory_iterator at(path, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    const bool is_early =
        std::find(std::begin(kEarlyNames), std::end(kEarlyNames), name) != std::end(kEarlyNames);
    if (!is_early && !IsClosedToOthers(path)) {
      return errors::StateWithForeignEntry(path, at->path());
    }
  }
  if (error) return CannotLookAt(path, error.value());
  return Ok{};
}

struct NetworkFileSystem {
  uint32_t number;  // statfs(2) and linux/magic.h
  std::string_view name;
};
constexpr NetworkFileSystem kNetworkFileSystems[] = {
    {0x6969, "NFS"},       {0x517B, "SMB"},        {0xFF534D42, "CIFS"}, {0xFE534D42, "SMB"},
    {0x5346414F, "AFS"},   {0x6B414653, "AFS"},    {0x73757245, "Coda"}, {0x564C, "NCP"},
    {0x00C36400, "Ceph"},  {0x0BD00BD0, "Lustre"}, {0x47504653, "GPFS"}, {0x19830326, "BeeGFS"},
    {0xAAD7AAEA, "PanFS"}, {0x7461636F, "OCFS2"},  {0x01161970, "GFS2"}, {0x20030528, "OrangeFS"},
};

// Creates the directory if necessary, and checks that it is a directory of only this user.
Status MakeOwnDirectory(const Path& path) {
  RETURN_IF_ERROR(CheckIsOnThisHost(path));
  if (!path.parent_path().empty()) {
    if (Status made = MakeDirectories(path.parent_path()); !made.ok()) {
      return errors::StateNotWritable(path, made.error());
    }
  }
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return errors::StateNotWritable(path, CannotMakeDirectory(path, errno));
  }
  struct stat facts = {};
  if (::stat(path.c_str(), &facts) != 0) {
    return errors::StateNotWritable(path, CannotLookAt(path, errno));
  }
  if (!S_ISDIR(facts.st_mode)) return errors::StateNoDirectory(path);
  if (facts.st_uid != ::geteuid()) {
    return errors::StateOfAnotherUser(path, facts.st_uid, ::geteuid());
  }
  if ((facts.st_mode & 0077) != 0) RETURN_IF_ERROR(CheckIsForState(path));
  RETURN_IF_ERROR(CloseToOthers(path, facts.st_mode));
  const bool others_could_write = (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  return others_could_write ? CheckEntriesAreOwn(path) : Ok{};
}

}  // namespace

// Reads field 22 of the process's stat file. The name in field 2 may contain blanks, so the fields
// after its ")" are counted.
uint64_t StartTicks(pid_t pid) {
  const auto stat = ReadFile("/proc/" + std::to_string(pid) + "/stat");
  if (!stat.ok()) return 0;
  const size_t name_end = stat->rfind(')');
  if (name_end == std::string::npos) return 0;
  const std::vector<std::string> fields = Split(stat->substr(name_end + 2), ' ');
  return fields.size() > 19 ? std::strtoull(fields[19].c_str(), nullptr, 10) : 0;
}

std::string_view NetworkFileSystemName(uint32_t number) {
  for (const NetworkFileSystem& known : kNetworkFileSystems) {
    if (known.number == number) return known.name;
  }
  return "";
}

Status CheckIsOnThisHost(const Path& directory) {
  struct statfs facts = {};
  Path existing = directory;
  while (::statfs(existing.c_str(), &facts) != 0) {
    const bool is_top = !existing.has_relative_path();
    if ((errno != ENOENT && errno != ENOTDIR) || is_top)
      return Ok{};  // its use fails, and says why
    existing = existing.parent_path();
  }
  const std::string_view name = NetworkFileSystemName(static_cast<uint32_t>(facts.f_type));
  return name.empty() ? Status(Ok{}) : errors::StateOnNetwork(directory, name);
}

Result<StateDirectory> StateDirectory::Own(const Path& path, const std::string& version,
                                           Instant now) {
  RETURN_IF_ERROR(MakeOwnDirectory(path));
  const Path lock_path = path / kLockName;
  Fd lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock.valid()) {
    return errors::StateNotWritable(path, CannotOpen(lock_path, errno));
  }
  ASSIGN_OR_RETURN(const bool taken, TakeLock(lock.get(), lock_path));
  if (!taken) return errors::StateTaken(path, ReadNote(lock.get()));
  StateOwner owner{::getpid(), StartTicks(::getpid()), "", version, Rfc3339(now)};
  if (Status written = WriteNote(lock.get(), owner, lock_path); !written.ok()) {
    return errors::StateNotWritable(path, written.error());
  }
  return StateDirectory(path, std::move(lock), std::move(owner));
}

Status StateDirectory::Make(const Path& path) { return MakeOwnDirectory(path); }

Result<std::optional<StateOwner>> StateDirectory::Peek(const Path& path) {
  const Path lock_path = path / kLockName;
  // The kernel tests a lock through any descriptor, and the file system may be read-only.
  Fd lock(::open(lock_path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!lock.valid() && (errno == ENOENT || errno == ENOTDIR)) {
    return std::optional<StateOwner>();
  }
  if (!lock.valid()) return CannotOpen(lock_path, errno);
  ASSIGN_OR_RETURN(const bool locked, IsLocked(lock.get(), lock_path));
  if (!locked) return std::optional<StateOwner>();
  // An owner between its lock and its note cannot be named yet.
  return std::optional<StateOwner>(ReadNote(lock.get()).value_or(StateOwner{}));
}

Status StateDirectory::Publish(const std::string& url) {
  owner_.url = url;
  return WriteNote(lock_.get(), owner_, path_ / kLockName);
}

StateDirectory::~StateDirectory() {
  // The note of an owner that has ended would confuse readers.
  if (lock_.valid() && ::ftruncate(lock_.get(), 0) != 0) return;
}

}  // namespace caip::host
