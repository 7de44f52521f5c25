#include "host/machine/boot_disks.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <system_error>
#include <utility>

#include "base/encoding.h"
#include "base/errors.h"
#include "base/text.h"

namespace caip::host {
namespace {

/// Encodes any name as one part of a path.
std::string PathPart(const std::string& name) {
  if (name.find_first_not_of('.') == std::string::npos) return ReplaceAll(name, ".", "%2E");
  return PercentEncoded(name);
}

constexpr int kTopDirectory = 0x00020000;  // FS_TOPDIR_FL, which not all versions of fs.h have

// Makes a project's directory, in which ext4 shall place the directories of jobs far from each
// other. Near the disks that were just deleted, ext4 without a journal takes 20 times as long for
// each new file (fakes/gcs/store/temporary_files.h). Other file systems ignore it.
void MakeProject(const Path& directory) {
  if (::mkdir(directory.c_str(), 0777) != 0) return;
  const Fd opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  int flags = 0;
  if (::ioctl(opened.get(), FS_IOC_GETFLAGS, &flags) != 0) return;
  flags |= kTopDirectory;
  (void)::ioctl(opened.get(), FS_IOC_SETFLAGS, &flags);
}

// A replica that shall have a fresh disk must not see what its earlier boot left.
Status EnsureEmpty(const Path& disk) {
  std::error_code error;
  const bool is_left =
      std::filesystem::exists(disk, error) && !std::filesystem::is_empty(disk, error);
  return is_left ? EnsureRemoved(disk) : Ok{};
}

}  // namespace

Path KeptDisksOf(const Path& state_directory, const engine::RunKey& run) {
  return state_directory / "kept-disks" / PathPart(run.project) / PathPart(run.job_id);
}

BootDisks::BootDisks(const Path& state_directory, bool keep)
    : root_(state_directory / "disks"),
      trash_(root_ / ".trash"),
      kept_(state_directory / "kept-disks"),
      keep_(keep) {
  sweeper_ = std::thread([this] { Sweep(); });
}

BootDisks::~BootDisks() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  sweeper_.join();
}

Path BootDisks::Of(const engine::RunKey& run) const {
  const Path job = root_ / PathPart(run.project) / PathPart(run.job_id);
  return run.trial.empty() ? job : job / ("trial-" + PathPart(run.trial));
}

Path BootDisks::Of(const engine::ReplicaKey& key) const {
  return Of(key.run) / run::Name(key.replica);
}

Path BootDisks::HostsFileOf(const engine::ReplicaKey& key) const {
  return Of(key.run) / ("." + run::Name(key.replica) + ".hosts");
}

Path BootDisks::ResolverFileOf(const engine::ReplicaKey& key) const {
  return Of(key.run) / ("." + run::Name(key.replica) + ".resolver");
}

Path BootDisks::HostNameFileOf(const engine::ReplicaKey& key) const {
  return Of(key.run) / ("." + run::Name(key.replica) + ".hostname");
}

Path BootDisks::WatchSocketOf(const engine::ReplicaKey& key) const {
  return Of(key.run) / ("." + run::Name(key.replica) + ".watch");
}

Status BootDisks::Make(const engine::ReplicaKey& key, bool fresh) {
  const Path disk = Of(key);
  if (fresh) {
    Trash(disk);
    RETURN_IF_ERROR(EnsureEmpty(disk));
  }
  RETURN_IF_ERROR(MakeDirectories(root_));
  MakeProject(root_ / PathPart(key.run.project));
  return MakeDirectories(disk);
}

void BootDisks::Discard(const engine::RunKey& run) {
  if (keep_) Keep(run);
  Trash(Of(run));
}

void BootDisks::Keep(const engine::RunKey& run) {
  const Path kept = kept_ / Of(run).lexically_relative(root_);
  std::error_code error;
  for (std::filesystem::directory_iterator disk(Of(run), error), end; !error && disk != end;
       disk.increment(error)) {
    const Path name = disk->path().filename();
    const bool is_disk = !name.string().starts_with('.') && !name.string().starts_with("trial-");
    if (!is_disk || !MakeDirectories(kept).ok()) continue;
    Trash(kept / name);
    std::error_code left;  // what cannot be moved is deleted
    std::filesystem::rename(disk->path(), kept / name, left);
  }
}

// Whether it is a project's directory in which runs have disks.
bool BootDisks::IsOfRuns(const Path& place) const {
  std::error_code unreadable;
  return place != trash_ && !std::filesystem::is_empty(place, unreadable);
}

bool BootDisks::AnyLeft() const {
  std::error_code error;
  for (std::filesystem::directory_iterator project(root_, error), end; !error && project != end;
       project.increment(error)) {
    if (IsOfRuns(project->path())) return true;
  }
  return false;
}

void BootDisks::DiscardAll() {
  std::error_code error;
  std::vector<Path> projects;
  for (std::filesystem::directory_iterator entry(root_, error), end; !error && entry != end;
       entry.increment(error)) {
    if (IsOfRuns(entry->path())) projects.push_back(entry->path());
  }
  for (const Path& project : projects) Trash(project);
  const std::lock_guard lock(mutex_);
  for (std::filesystem::directory_iterator entry(trash_, error), end; !error && entry != end;
       entry.increment(error)) {
    to_delete_.push_back(entry->path());  // left by an emulator that was killed
  }
  changed_.notify_all();
}

void BootDisks::Trash(const Path& path) {
  std::error_code error;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, error))) return;
  if (!MakeDirectories(trash_).ok()) return RemoveTree(path);
  Path place;
  {
    const std::lock_guard lock(mutex_);
    place = trash_ / (std::to_string(::getpid()) + "-" + std::to_string(trashed_++));
  }
  std::filesystem::rename(path, place, error);
  if (error) return RemoveTree(path);  // the path is a mount, or another process renamed it
  {
    const std::lock_guard lock(mutex_);
    to_delete_.push_back(std::move(place));
  }
  changed_.notify_all();
}

void BootDisks::Sweep() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !to_delete_.empty(); });
    if (to_delete_.empty()) return;
    const std::vector<Path> paths = std::exchange(to_delete_, {});
    lock.unlock();
    for (const Path& path : paths) RemoveTree(path);
    lock.lock();
  }
}

Status CopyWorkingFiles(const engine::ReplicaLaunch& launch, const Path& directory) {
  if (!launch.fresh_disk) return Ok{};
  for (const Path file : launch.working_files) {
    std::error_code error;
    std::filesystem::copy_file(file, directory / file.filename(),
                               std::filesystem::copy_options::overwrite_existing, error);
    if (error) return CannotMake(directory / file.filename(), error.value());
  }
  return Ok{};
}

}  // namespace caip::host
