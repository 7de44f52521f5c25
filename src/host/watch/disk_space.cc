#include "host/watch/disk_space.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "host/watch/watched_call.h"
#include "host/watch/watched_process.h"

namespace caip::host {
namespace {

constexpr uint64_t kBytesOfBlock = 512;               // of st_blocks
constexpr std::string_view kUnlinked = " (deleted)";  // at the end of a link in /proc/PID/fd

uint64_t SpaceOf(const struct stat& status) {
  return static_cast<uint64_t>(status.st_blocks) * kBytesOfBlock;
}

}  // namespace

uint64_t SpaceBelow(const Path& directory) {
  uint64_t bytes = 0;
  std::set<ino_t> linked;  // files with several names, which count once
  std::error_code error;
  const auto options = std::filesystem::directory_options::skip_permission_denied;
  for (std::filesystem::recursive_directory_iterator entry(directory, options, error), end;
       !error && entry != end; entry.increment(error)) {
    struct stat status {};
    if (::lstat(entry->path().c_str(), &status) != 0) continue;
    const bool counts =
        S_ISDIR(status.st_mode) || status.st_nlink < 2 || linked.insert(status.st_ino).second;
    if (counts) bytes += SpaceOf(status);
  }
  return bytes;
}

namespace {

// The mount that a path leads to; nullopt if that is not known.
std::optional<uint64_t> MountIdOf(const Path& path) {
  struct statx status {};
  const bool found = ::statx(AT_FDCWD, path.c_str(), 0, STATX_MNT_ID, &status) == 0 &&
                     (status.stx_mask & STATX_MNT_ID) != 0;
  return found ? std::optional<uint64_t>(status.stx_mnt_id) : std::nullopt;
}

bool IsOnOverlay(const Path& file) {
  struct statfs status {};
  return ::statfs(file.c_str(), &status) == 0 &&
         static_cast<uint64_t>(status.f_type) == OVERLAYFS_SUPER_MAGIC;
}

/// Adds up the files that processes have open and that no name leads to. Each counts once.
class DeletedFiles {
 public:
  DeletedFiles(pid_t init, const Path& disk) {
    std::error_code error;
    const Path real = std::filesystem::canonical(disk, error);
    directory_ = ((error ? disk : real) / "").string();
    if (directory_ == "/") root_ = MountIdOf("/proc/" + std::to_string(init) + "/root");
  }

  void AddThoseOf(pid_t process) {
    std::error_code error;
    const Path descriptors = "/proc/" + std::to_string(process) + "/fd";
    for (std::filesystem::directory_iterator entry(descriptors, error), end; !error && entry != end;
         entry.increment(error)) {
      Add(entry->path());
    }
  }
  uint64_t bytes() const { return bytes_; }

 private:
  void Add(const Path& descriptor) {
    std::error_code error;
    const std::string name = std::filesystem::read_symlink(descriptor, error).string();
    struct stat status {};
    if (!name.ends_with(kUnlinked) || ::stat(descriptor.c_str(), &status) != 0) return;
    if (status.st_nlink > 0 || !S_ISREG(status.st_mode) || !IsOnDisk(descriptor, name)) return;
    if (counted_.insert({status.st_dev, status.st_ino}).second) bytes_ += SpaceOf(status);
  }

  // What a machine writes to its disk is on the mount of its root, or on overlays (MachineFiles).
  // Its memory files, and directories of the host that it sees, are on other mounts.
  bool IsOnDisk(const Path& descriptor, const std::string& name) const {
    if (directory_ != "/") return name.starts_with(directory_);
    return IsOnOverlay(descriptor) || (root_ && MountIdOf(descriptor) == root_);
  }

  std::string directory_;         // with a slash at the end
  std::optional<uint64_t> root_;  // the mount of a machine's root
  std::set<FileId> counted_;
  uint64_t bytes_ = 0;
};

}  // namespace

uint64_t SpaceOfDeleted(pid_t init, const Path& disk) {
  DeletedFiles files(init, disk);
  for (const pid_t process : DescendantsOf(init)) files.AddThoseOf(process);
  return files.bytes();
}

}  // namespace caip::host
