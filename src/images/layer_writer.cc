#include "images/layer_writer.h"

#include <fcntl.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "images/errors.h"

namespace caip::images {
namespace {

constexpr std::string_view kWhiteout = ".wh.";
constexpr std::string_view kOpaqueMarker = ".wh..wh..opq";
constexpr std::string_view kAufsMarker = ".wh..wh.";  // other files of aufs, without a meaning
constexpr int64_t kOwnerMax = 0xfffffffe;

constexpr char kDevices[] = "device nodes, which an image does not need";
constexpr char kSetIds[] = "set-user-ID and set-group-ID bits of programs";
constexpr char kOwners[] = "owners that this user may not give to files";
constexpr char kAttributes[] = "extended attributes, such as capabilities of files";
constexpr char kOthers[] = "entries of unknown kinds";

struct timespec TimeSpec(int64_t seconds, long nanoseconds) {
  struct timespec time {};
  time.tv_sec = static_cast<time_t>(seconds);
  time.tv_nsec = nanoseconds >= 0 && nanoseconds < 1'000'000'000 ? nanoseconds : 0;
  return time;
}

// Attributes that a host or an overlay gives a meaning are not for an archive to set.
bool IsKeptAttribute(std::string_view name) {
  return name.starts_with("user.") && !name.starts_with("user.overlay.");
}

std::string_view LeafOf(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// "a/b" for "a/b/c"; "" for "c".
std::string DirectoryPart(std::string_view path) {
  const size_t slash = path.rfind('/');
  return std::string(path.substr(0, slash == std::string_view::npos ? 0 : slash));
}

// Whether a directory on the way has a name that only a whiteout may have.
bool IsBelowWhiteout(std::string_view path) {
  const std::string parent = DirectoryPart(path);
  return parent.starts_with(kWhiteout) || parent.find("/.wh.") != std::string::npos;
}

}  // namespace

LayerWriter::LayerWriter(LayerRoot& root, const UnpackLimits& limits)
    : root_(root), limits_(limits), has_rights_(::geteuid() == 0) {}

void LayerWriter::LeaveOut(const char* what, const TarEntry& entry) {
  LeftOut& left_out = left_out_[what];
  if (left_out.count++ == 0) left_out.first = errors::ShownPath(entry.path);
}

std::vector<std::string> LayerWriter::Remarks() const {
  std::vector<std::string> remarks;
  for (const auto& [what, left_out] : left_out_) {
    remarks.push_back("The image store left out " + what + ": " + std::to_string(left_out.count) +
                      (left_out.count == 1 ? " file, " : " files, the first is ") + left_out.first +
                      ".");
  }
  return remarks;
}

Status LayerWriter::CountEntry(const TarEntry& entry) {
  const uint64_t implied = root_.made() - directories_;
  if (++entries_ + implied > limits_.entries) {
    return errors::ImageWithTooManyFiles(limits_.entries);
  }
  if (entry.kind != EntryKind::kFile) return Ok{};
  if (entry.size > limits_.bytes - bytes_) return errors::ImageTooLarge(limits_.bytes);
  bytes_ += entry.size;
  return Ok{};
}

Status LayerWriter::Add(const TarEntry& entry, TarReader& data) {
  RETURN_IF_ERROR(CountEntry(entry));
  ASSIGN_OR_RETURN(const std::string path, LayerPathOf(entry.path));
  if (path.empty()) {
    if (entry.kind == EntryKind::kDirectory) return AddDirectory(entry, path);
    return errors::EntryInvalid(entry.path, "it would replace the root of the image");
  }
  const std::string_view leaf = LeafOf(path);
  if (leaf == kOpaqueMarker) return HideInLower(DirectoryPart(path));
  if (leaf.starts_with(kAufsMarker) || path.starts_with(kAufsMarker)) return Ok{};
  if (IsBelowWhiteout(path)) {
    return errors::EntryInvalid(entry.path, "it is below a file that marks a deletion");
  }
  if (leaf.starts_with(kWhiteout)) return AddWhiteout(path);
  return AddNamed(entry, path, data);
}

Status LayerWriter::AddNamed(const TarEntry& entry, const std::string& path, TarReader& data) {
  switch (entry.kind) {
    case EntryKind::kFile:
      return AddFile(entry, path, data);
    case EntryKind::kDirectory:
      return AddDirectory(entry, path);
    case EntryKind::kSymbolicLink:
      return AddSymbolicLink(entry, path);
    case EntryKind::kHardLink:
      return AddHardLink(entry, path);
    case EntryKind::kPipe:
      return AddPipe(entry, path);
    case EntryKind::kDevice:
      LeaveOut(kDevices, entry);
      return Ok{};
    case EntryKind::kOther:
      break;
  }
  LeaveOut(kOthers, entry);
  return Ok{};
}

// Later entries replace earlier ones of the same path.
Result<LayerPlace> LayerWriter::EmptyPlace(const std::string& path) {
  ASSIGN_OR_RETURN(LayerPlace place, root_.PlaceOf(path));
  RETURN_IF_ERROR(root_.Clear(place, path));
  return place;
}

unsigned LayerWriter::ModeOf(const TarEntry& entry, bool is_directory) {
  unsigned mode = entry.mode & 07777;
  if (!is_directory && (mode & (S_ISUID | S_ISGID)) != 0) {
    mode &= ~static_cast<unsigned>(S_ISUID | S_ISGID | S_ISVTX);
    LeaveOut(kSetIds, entry);
  }
  if (!has_rights_) mode |= is_directory ? 0700 : 0400;
  return mode;
}

// An empty name means the descriptor itself.
Status LayerWriter::SetOwner(int directory, const std::string& name, const TarEntry& entry) {
  if (!has_rights_) return Ok{};
  const bool exists =
      entry.uid >= 0 && entry.uid <= kOwnerMax && entry.gid >= 0 && entry.gid <= kOwnerMax;
  if (exists &&
      ::fchownat(directory, name.c_str(), static_cast<uid_t>(entry.uid),
                 static_cast<gid_t>(entry.gid), AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) == 0) {
    return Ok{};
  }
  if (exists && errno != EPERM && errno != EINVAL) return errors::CannotUnpack(entry.path, errno);
  LeaveOut(kOwners, entry);  // in a user namespace that does not have them
  return Ok{};
}

void LayerWriter::SetAttributes(int file, const TarEntry& entry) {
  for (const auto& [name, value] : entry.attributes) {
    if (!IsKeptAttribute(name) ||
        ::fsetxattr(file, name.c_str(), value.data(), value.size(), 0) != 0) {
      LeaveOut(kAttributes, entry);
    }
  }
}

Result<int> LayerWriter::MakeDirectory(const std::string& path) {
  if (path.empty()) return root_.root();
  ASSIGN_OR_RETURN(const LayerPlace place, root_.PlaceOf(path));
  struct stat status {};
  const bool exists =
      ::fstatat(place.directory, place.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
  // A whiteout is replaced below, with the attribute that keeps its effect.
  if (exists && !S_ISDIR(status.st_mode) && !IsWhiteout(status)) {
    RETURN_IF_ERROR(root_.Clear(place, path));
  }
  const uint64_t made_before = root_.made();
  ASSIGN_OR_RETURN(const int directory, root_.Directory(path));
  directories_ += root_.made() - made_before;
  return directory;
}

Status LayerWriter::KeepTimes(const TarEntry& entry, const std::string& path) {
  const auto [at, is_new] =
      directory_times_.insert_or_assign(path, Times{entry.mtime, entry.mtime_nanoseconds});
  if (!is_new) return Ok{};
  directory_names_ += at->first.size();
  if (directory_names_ <= limits_.directory_names) return Ok{};
  return errors::DirectoryNamesTooLong(limits_.directory_names);
}

Status LayerWriter::AddDirectory(const TarEntry& entry, const std::string& path) {
  ASSIGN_OR_RETURN(const int directory, MakeDirectory(path));
  RETURN_IF_ERROR(SetOwner(directory, "", entry));
  if (::fchmod(directory, ModeOf(entry, true)) != 0) return errors::CannotUnpack(path, errno);
  SetAttributes(directory, entry);
  return KeepTimes(entry, path);
}

Status LayerWriter::AddFile(const TarEntry& entry, const std::string& path, TarReader& data) {
  ASSIGN_OR_RETURN(const LayerPlace place, root_.PlaceOf(path));
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  Fd file(::openat(place.directory, place.name.c_str(), kFlags, 0600));
  if (!file.valid() && errno == EEXIST) {
    RETURN_IF_ERROR(root_.Clear(place, path));
    file = Fd(::openat(place.directory, place.name.c_str(), kFlags, 0600));
  }
  if (!file.valid()) return errors::CannotUnpack(path, errno);
  RETURN_IF_ERROR(WriteData(file.get(), entry, path, data));
  RETURN_IF_ERROR(SetOwner(file.get(), "", entry));
  if (::fchmod(file.get(), ModeOf(entry, false)) != 0) return errors::CannotUnpack(path, errno);
  SetAttributes(file.get(), entry);
  const struct timespec time = TimeSpec(entry.mtime, entry.mtime_nanoseconds);
  const struct timespec times[] = {time, time};
  ::futimens(file.get(), times);
  return Ok{};
}

Status LayerWriter::WriteData(int file, const TarEntry& entry, const std::string& path,
                              TarReader& data) {
  uint64_t end = 0;
  RETURN_IF_ERROR(data.ReadData([&](std::string_view bytes, uint64_t offset) -> Status {
    if (offset > end && ::lseek(file, static_cast<off_t>(offset), SEEK_SET) < 0) {
      return errors::CannotUnpack(path, errno);
    }
    if (!WriteAll(file, bytes)) return errors::CannotUnpack(path, errno);
    end = offset + bytes.size();
    return Ok{};
  }));
  // A file may end with a hole.
  if (end < entry.size && ::ftruncate(file, static_cast<off_t>(entry.size)) != 0) {
    return errors::CannotUnpack(path, errno);
  }
  return Ok{};
}

Status LayerWriter::AddSymbolicLink(const TarEntry& entry, const std::string& path) {
  if (entry.target.empty()) return errors::EntryInvalid(entry.path, "it is a link to nothing");
  ASSIGN_OR_RETURN(const LayerPlace place, EmptyPlace(path));
  if (directory_times_.erase(path) > 0) directory_names_ -= path.size();
  if (::symlinkat(entry.target.c_str(), place.directory, place.name.c_str()) != 0) {
    return errors::CannotUnpack(path, errno);
  }
  RETURN_IF_ERROR(SetOwner(place.directory, place.name, entry));
  const struct timespec time = TimeSpec(entry.mtime, entry.mtime_nanoseconds);
  const struct timespec times[] = {time, time};
  ::utimensat(place.directory, place.name.c_str(), times, AT_SYMLINK_NOFOLLOW);
  return Ok{};
}

Status LayerWriter::AddHardLink(const TarEntry& entry, const std::string& path) {
  const auto target = LayerPathOf(entry.target);
  if (!target.ok()) return errors::LinkLeavesImage(entry.path, entry.target);
  const std::string leaf(LeafOf(*target));
  const auto parent = root_.Find(DirectoryPart(*target));
  struct stat linked {};
  if (leaf.empty() || !parent.ok() ||
      ::fstatat(parent->get(), leaf.c_str(), &linked, AT_SYMLINK_NOFOLLOW) != 0 ||
      S_ISDIR(linked.st_mode)) {
    return errors::LinkTargetMissing(entry.path, entry.target);
  }
  ASSIGN_OR_RETURN(const LayerPlace place, root_.PlaceOf(path));
  struct stat old {};
  const bool exists =
      ::fstatat(place.directory, place.name.c_str(), &old, AT_SYMLINK_NOFOLLOW) == 0;
  if (exists && old.st_dev == linked.st_dev && old.st_ino == linked.st_ino) return Ok{};
  RETURN_IF_ERROR(root_.Clear(place, path));
  if (::linkat(parent->get(), leaf.c_str(), place.directory, place.name.c_str(), 0) != 0) {
    return errors::CannotUnpack(path, errno);
  }
  return Ok{};
}

Status LayerWriter::AddPipe(const TarEntry& entry, const std::string& path) {
  ASSIGN_OR_RETURN(const LayerPlace place, EmptyPlace(path));
  if (::mknodat(place.directory, place.name.c_str(), S_IFIFO | (ModeOf(entry, false) & 0777), 0) !=
      0) {
    return errors::CannotUnpack(path, errno);
  }
  return SetOwner(place.directory, place.name, entry);
}

// A whiteout hides a file of lower layers. A file that this layer has does so by itself; a
// directory needs an attribute.
Status LayerWriter::AddWhiteout(const std::string& path) {
  const std::string leaf(LeafOf(path));
  const std::string hidden = leaf.substr(kWhiteout.size());
  if (hidden.empty() || hidden == "." || hidden == "..") {
    return errors::EntryInvalid(path, "it deletes no file");
  }
  const std::string target = path.substr(0, path.size() - leaf.size()) + hidden;
  ASSIGN_OR_RETURN(const LayerPlace place, root_.PlaceOf(target));
  struct stat old {};
  if (::fstatat(place.directory, place.name.c_str(), &old, AT_SYMLINK_NOFOLLOW) == 0) {
    return S_ISDIR(old.st_mode) ? HideInLower(target) : Status(Ok{});
  }
  if (::mknodat(place.directory, place.name.c_str(), S_IFCHR, makedev(0, 0)) != 0) {
    return errors::CannotMakeWhiteout(target, errno);
  }
  return Ok{};
}

Status LayerWriter::HideInLower(const std::string& directory) {
  ASSIGN_OR_RETURN(const int opened, root_.Directory(directory));
  return root_.MakeOpaque(opened, directory);
}

Status LayerWriter::Finish() {
  for (const auto& [path, times] : directory_times_) {
    const auto directory = root_.Find(path);
    if (!directory.ok()) continue;  // a later entry has replaced it
    const struct timespec time = TimeSpec(times.seconds, times.nanoseconds);
    const struct timespec both[] = {time, time};
    ::futimens(directory->get(), both);
  }
  return Ok{};
}

}  // namespace caip::images
