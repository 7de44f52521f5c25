#include "host/machine/memory_directory.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string>

namespace caip::host {
namespace {

constexpr char kPlace[] = "/dev/shm";
constexpr uint64_t kShare = 4;             // a directory may use a quarter of what is free
constexpr uint64_t kTimesNeed = 4;         // a run may write more than expected
constexpr uint64_t kDiskFree = 1u << 30u;  // a disk with less free space may become full
// Waits for the end of its input, to which no process writes, and deletes the directory.
constexpr char kGuard[] = "read -r nothing; exec rm -rf -- \"$0\"";

bool IsInMemory(const Path& directory) {
  struct statfs found = {};
  return ::statfs(directory.c_str(), &found) == 0 && found.f_type == TMPFS_MAGIC;
}

uint64_t FreeAt(const Path& directory) {
  struct statvfs found = {};
  return ::statvfs(directory.c_str(), &found) == 0 ? found.f_bavail * found.f_frsize : 0;
}

// How many files can still be made there.
uint64_t FreeFilesAt(const Path& directory) {
  struct statvfs found = {};
  return ::statvfs(directory.c_str(), &found) == 0 ? found.f_favail : 0;
}

bool LetsProgramsRun(const Path& directory) {
  struct statvfs found = {};
  return ::statvfs(directory.c_str(), &found) == 0 && (found.f_flag & ST_NOEXEC) == 0;
}

// The number after `key` in a file; an empty `key` means the start. nullopt for texts such as
// "max".
std::optional<uint64_t> NumberIn(const Path& file, std::string_view key) {
  const auto text = ReadFile(file);
  if (!text.ok()) return std::nullopt;
  size_t at = text->find(key);
  if (at == std::string::npos) return std::nullopt;
  at = text->find_first_not_of(" \t", at + key.size());
  if (at == std::string::npos) return std::nullopt;
  uint64_t number = 0;
  const char* const end = text->data() + text->size();
  if (std::from_chars(text->data() + at, end, number).ec != std::errc()) return std::nullopt;
  return number;
}

// The remaining memory of this control group (version 1 or 2).
uint64_t LeftOf(const Path& limit, const Path& used) {
  const auto most = NumberIn(limit, "");
  if (!most) return UINT64_MAX;
  const uint64_t taken = NumberIn(used, "").value_or(0);
  return *most > taken ? *most - taken : 0;
}

uint64_t FreeMemory() {
  const uint64_t host = NumberIn("/proc/meminfo", "MemAvailable:").value_or(0) * 1024;
  const Path groups = "/sys/fs/cgroup";
  return std::min(
      {host, LeftOf(groups / "memory.max", groups / "memory.current"),
       LeftOf(groups / "memory/memory.limit_in_bytes", groups / "memory/memory.usage_in_bytes")});
}

}  // namespace

std::unique_ptr<MemoryDirectory> MemoryDirectory::Open(const Path& disk, uint64_t need) {
  if (!IsInMemory(kPlace) || !LetsProgramsRun(kPlace)) return nullptr;
  if (IsInMemory(disk) || FreeAt(disk) < kDiskFree) return nullptr;
  const uint64_t spare = std::min(FreeMemory(), FreeAt(kPlace)) / kShare;
  if (need > spare / kTimesNeed) return nullptr;
  std::string name = std::string(kPlace) + "/caip-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) return nullptr;
  std::unique_ptr<MemoryDirectory> directory(new MemoryDirectory(name, spare));
  directory->free_before_ = FreeAt(kPlace);
  directory->files_before_ = FreeFilesAt(kPlace);
  if (!directory->SetGuard().ok()) return nullptr;
  return directory;
}

Status MemoryDirectory::SetGuard() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return CannotMakePipe(errno);
  const Fd heard(ends[0]);
  alive_ = Fd(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, heard.get(), STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // Ctrl-C in the terminal must not reach the guard.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  std::string words[] = {"sh", "-c", kGuard, path_.string()};
  char* argv[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
  char path[] = "PATH=/usr/bin:/bin";
  char* environment[] = {path, nullptr};
  const int error = posix_spawn(&guard_, "/bin/sh", &actions, &attributes, argv, environment);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error == 0) return Ok{};
  guard_ = -1;
  return CannotStart("/bin/sh", error);
}

MemoryDirectory::~MemoryDirectory() {
  RemoveTree(path_);
  alive_.Close();
  if (guard_ > 0) ::waitpid(guard_, nullptr, 0);
}

uint64_t BytesBelow(const Path& directory) {
  using Walk = std::filesystem::recursive_directory_iterator;
  std::error_code error;
  uint64_t bytes = 0;
  for (Walk entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code gone;
    const bool counts = entry->is_regular_file(gone) && !entry->is_symlink(gone);
    const uint64_t size = counts ? entry->file_size(gone) : 0;
    if (!gone) bytes += size;
  }
  return bytes;
}

bool MemoryDirectory::IsOverfull() const {
  return FreeAt(kPlace) + spare_ < free_before_ ||
         FreeFilesAt(kPlace) < files_before_ - files_before_ / kShare;
}

}  // namespace caip::host
