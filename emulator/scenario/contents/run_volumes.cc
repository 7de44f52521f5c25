#include "emulator/scenario/contents/run_volumes.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/hash.h"
#include "emulator/scenario/contents/file_recorder.h"
#include "emulator/scenario/errors.h"

namespace caip::scenario {
namespace {

using harness::FinalObject;

constexpr uint64_t kComparedBytesMax = 16u << 20;  // larger files are compared by size and hash
constexpr size_t kVolumePieceBytes = 1u << 20;
constexpr char kUntouched[] = "as before the run";

bool IsBelow(const Path& path, const Path& directory) {
  const auto [end, ignored] =
      std::mismatch(directory.begin(), directory.end(), path.begin(), path.end());
  return end == directory.end();
}

// Histories and Python environments are large, and trainers do not write to them.
bool IsShownNotCopied(const Path& directory) {
  const Path name = directory.filename();
  std::error_code error;
  return name == ".git" || name == "node_modules" ||
         std::filesystem::exists(directory / "pyvenv.cfg", error);
}

bool IsByProduct(const Path& directory) { return directory.filename() == "__pycache__"; }

// Clones the blocks where the file system can, else copies the bytes.
bool CopyBytes(int from, int to) {
  if (::ioctl(to, FICLONE, from) == 0) return true;
  while (true) {
    const ssize_t count = ::copy_file_range(from, nullptr, to, nullptr, kVolumePieceBytes, 0);
    if (count == 0) return true;
    if (count < 0) break;
  }
  if (::lseek(to, 0, SEEK_SET) < 0 || ::lseek(from, 0, SEEK_SET) < 0) return false;
  std::string piece(kVolumePieceBytes, '\0');
  while (true) {
    const ssize_t count = ::read(from, piece.data(), piece.size());
    if (count <= 0) return count == 0;
    if (!WriteAll(to, {piece.data(), static_cast<size_t>(count)})) return false;
  }
}

void CopyAttributes(const Path& from, const Path& to) {
  struct stat status {};
  if (::lstat(from.c_str(), &status) != 0) return;
  const timespec times[] = {status.st_atim, status.st_mtim};
  SetOwner(to, status.st_uid, status.st_gid);
  if (!S_ISLNK(status.st_mode)) ::chmod(to.c_str(), status.st_mode & 07777);
  ::utimensat(AT_FDCWD, to.c_str(), times, AT_SYMLINK_NOFOLLOW);
}

// With its mode and its times: trainers look for the newest file.
bool CopyFile(const Path& from, const Path& to) {
  const Fd in = OpenRegularFile(from);
  struct stat status {};
  if (!in.valid() || ::fstat(in.get(), &status) != 0) return false;
  const Fd out(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!out.valid() || !CopyBytes(in.get(), out.get())) return false;
  SetOwner(to, status.st_uid, status.st_gid);  // before the mode, which it changes
  if (::fchmod(out.get(), status.st_mode & 07777) != 0) return false;
  const timespec times[] = {status.st_atim, status.st_mtim};
  return ::futimens(out.get(), times) == 0;
}

Result<std::string> BytesForComparison(const Path& file, uint64_t size) {
  if (size <= kComparedBytesMax) return ReadFile(file);
  const Fd opened = OpenRegularFile(file);
  if (!opened.valid()) return errors::CannotReadVolume(file, errno);
  Sha256Digest digest;
  std::string piece(kVolumePieceBytes, '\0');
  while (true) {
    const ssize_t count = ::read(opened.get(), piece.data(), piece.size());
    if (count < 0) return errors::CannotReadVolume(file, errno);
    if (count == 0) break;
    digest.Add({piece.data(), static_cast<size_t>(count)});
  }
  return std::to_string(size) + " bytes " + digest.FinishHex();
}

}  // namespace

Result<std::unique_ptr<RunVolumes>> RunVolumes::Make(const harness::Scenario& scenario,
                                                     Places places) {
  const bool on_machines = places.on_machines;
  std::unique_ptr<RunVolumes> volumes(new RunVolumes);
  volumes->places_ = std::move(places);
  volumes->working_directory_ = scenario.working_directory.string();
  std::vector<Path> wanted = scenario.volumes;
  const bool is_covered = std::ranges::any_of(
      wanted, [&](const Path& volume) { return IsBelow(scenario.working_directory, volume); });
  // A process would write to the host's own directory.
  const bool needs_copy = !on_machines && !scenario.working_directory.empty() && !is_covered;
  if (needs_copy) wanted.push_back(scenario.working_directory);
  std::ranges::sort(wanted);
  for (const Path& volume : wanted) {
    const auto has = [&](const Copied& other) { return IsBelow(volume, other.named); };
    if (std::ranges::any_of(volumes->volumes_, has)) continue;
    const bool is_working = IsBelow(scenario.working_directory, volume);
    if (!on_machines && !is_working) return errors::VolumeNeedsMachines(volume);
    RETURN_IF_ERROR(volumes->Add(volume));
  }
  return volumes;
}

bool RunVolumes::IsLeftOut(const Path& directory) const {
  return IsByProduct(directory) ||
         std::ranges::find(places_.states, directory) != places_.states.end();
}

Status RunVolumes::Add(const Path& volume) {
  const std::string number = std::to_string(volumes_.size());
  std::error_code error;
  const Path from = places_.begin.empty() ? volume : places_.begin / number;
  Copied copied{volume.string(), std::filesystem::weakly_canonical(volume, error).string(),
                places_.directory / number, from};
  if (error) copied.seen = copied.named;
  RETURN_IF_ERROR(MakeDirectories(copied.copy));
  if (!places_.on_machines) copied.seen = std::filesystem::canonical(copied.copy, error).string();
  if (std::filesystem::is_directory(from, error)) RETURN_IF_ERROR(CopyTree(from, copied));
  // Those that an earlier copy left out come from the host.
  for (std::filesystem::recursive_directory_iterator at(volume, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code gone;
    if (!at->is_directory(gone) || at->is_symlink(gone)) continue;
    if (IsLeftOut(at->path())) at.disable_recursion_pending();
    if (!IsShownNotCopied(at->path())) continue;
    at.disable_recursion_pending();
    copied.not_copied.push_back(at->path().lexically_relative(volume).string());
  }
  volumes_.push_back(std::move(copied));
  return Ok{};
}

// Sockets, devices and pipes are left out. A directory gets its mode and its times when it is full.
Status RunVolumes::CopyTree(const Path& from, Copied& volume) {
  Copying copying;
  std::vector<std::pair<Path, Path>> directories;  // parents first
  std::error_code error;
  using Walk = std::filesystem::recursive_directory_iterator;
  for (Walk at(from, error), end; !error && at != end; at.increment(error)) {
    const Path below = at->path().lexically_relative(from);
    const Path to = volume.copy / below;
    std::error_code failed;
    if (at->is_symlink(failed)) {
      std::filesystem::copy_symlink(at->path(), to, failed);
      if (!failed) CopyAttributes(at->path(), to);
    } else if (at->is_directory(failed)) {
      const bool is_left_out = IsLeftOut(at->path()) || IsShownNotCopied(at->path());
      if (is_left_out) at.disable_recursion_pending();
      if (!is_left_out) std::filesystem::create_directory(to, failed);
      if (!is_left_out) directories.emplace_back(at->path(), to);
    } else if (at->is_regular_file(failed)) {
      RETURN_IF_ERROR(CopyRegularFile(at->path(), below, volume, copying));
    }
    if (failed) return errors::CannotCopyVolume(at->path(), failed.value());
  }
  std::ranges::reverse(directories);
  for (const auto& [original, copy] : directories) CopyAttributes(original, copy);
  return error ? Status(errors::CannotCopyVolume(from, error.value())) : Ok{};
}

// Names of one file become names of one copy.
Status RunVolumes::CopyRegularFile(const Path& from, const Path& below, const Copied& volume,
                                   Copying& copying) {
  const Path to = volume.copy / below;
  struct stat status {};
  if (::lstat(from.c_str(), &status) != 0) return errors::CannotCopyVolume(from, errno);
  if (const auto stamp = StampOf(from)) begin_[volume.named + "/" + below.string()] = *stamp;
  const auto [first, is_new] = copying.first_names.try_emplace({status.st_dev, status.st_ino}, to);
  if (!is_new) {
    const bool is_linked = ::link(first->second.c_str(), to.c_str()) == 0;
    return is_linked ? Status(Ok{}) : errors::CannotCopyVolume(from, errno);
  }
  copying.bytes += static_cast<uint64_t>(status.st_size);
  if (copying.bytes > kVolumeBytesMax) return errors::VolumeTooLarge(volume.named, kVolumeBytesMax);
  return CopyFile(from, to) ? Status(Ok{}) : errors::CannotCopyVolume(from, errno);
}

std::optional<RunVolumes::Stamp> RunVolumes::StampOf(const Path& file) {
  struct stat status {};
  if (::lstat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  constexpr int64_t kNanoseconds = 1'000'000'000;
  return Stamp{static_cast<uint64_t>(status.st_size),
               status.st_mtim.tv_sec * kNanoseconds + status.st_mtim.tv_nsec};
}

void RunVolumes::AddTo(engine::ReplicaLaunch& launch) const {
  using Use = engine::Volume::Use;
  std::string working = working_directory_;
  const bool is_in_volume = !working.empty() && NameOf(working).has_value();
  for (const Copied& volume : volumes_) {
    if (!places_.on_machines) {
      if (IsBelow(working_directory_, volume.named)) {
        const Path below = Path(working_directory_).lexically_relative(volume.named);
        working = below == "." ? volume.seen : (Path(volume.seen) / below).string();
      }
      continue;
    }
    launch.volumes.push_back({volume.copy.string(), volume.named});
    for (const std::string& name : volume.not_copied) {
      const std::string place = volume.named + "/" + name;
      launch.volumes.push_back({place, place, Use::kReadOnly});
    }
  }
  if (places_.on_machines && !working.empty() && !is_in_volume) {
    launch.volumes.push_back({working, working, Use::kCopyOnWrite});
  }
  if (!working.empty()) launch.working_directory = working;
}

std::vector<Path> RunVolumes::Roots() const {
  std::vector<Path> roots;
  for (const Copied& volume : volumes_) roots.emplace_back(volume.seen);
  return roots;
}

std::optional<std::string> RunVolumes::NameOf(const std::string& path) const {
  for (const Copied& volume : volumes_) {
    if (path == volume.seen) return volume.named;
    if (path.starts_with(volume.seen + "/")) return volume.named + path.substr(volume.seen.size());
  }
  return std::nullopt;
}

std::optional<Path> RunVolumes::PathOf(const std::string& name) const {
  for (const Copied& volume : volumes_) {
    if (name == volume.named) return volume.copy;
    const std::string prefix = volume.named + "/";
    if (name.starts_with(prefix)) return volume.copy / name.substr(prefix.size());
  }
  return std::nullopt;
}

void RunVolumes::AddTo(harness::FileTree& files) const {
  for (const Copied& volume : volumes_) {
    AddTree(volume.named, volume.copied, files, [&](const Path& directory) {
      return IsLeftOut(directory) || IsShownNotCopied(directory);
    });
  }
}

Status RunVolumes::Restore(const harness::FileTree& files, const harness::BlockStore& store) const {
  for (const Copied& volume : volumes_) {
    RETURN_IF_ERROR(RestoreTree(files, store, volume.named, volume.copy, volume.copied));
  }
  return Ok{};
}

Status RunVolumes::Collect(std::map<std::string, FinalObject>& objects) const {
  using Walk = std::filesystem::recursive_directory_iterator;
  for (const Copied& volume : volumes_) {
    std::error_code error;
    for (Walk at(volume.copy, error), end; !error && at != end; at.increment(error)) {
      std::error_code gone;
      const std::string name =
          volume.named + "/" + at->path().lexically_relative(volume.copy).string();
      if (at->is_symlink(gone)) {
        objects[name] = {"link to " + std::filesystem::read_symlink(at->path(), gone).string()};
      } else if (at->is_directory(gone)) {
        if (IsByProduct(at->path())) at.disable_recursion_pending();
      } else if (const auto stamp = StampOf(at->path())) {
        const auto before = begin_.find(name);
        if (before != begin_.end() && before->second == *stamp) {
          objects[name] = {kUntouched};
          continue;
        }
        ASSIGN_OR_RETURN(std::string bytes, BytesForComparison(at->path(), stamp->size));
        objects[name] = {std::move(bytes)};
      }
    }
    if (error) return errors::CannotReadVolume(volume.copy, error.value());
  }
  return Ok{};
}

}  // namespace caip::scenario
