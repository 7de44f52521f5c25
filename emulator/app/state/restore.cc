// How a state directory is made of a backup (backup.h). The archive may come from anywhere: nothing
// in it can name a place outside the new directory.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "emulator/app/state/backup.h"
#include "emulator/app/state/restoring_directory.h"
#include "emulator/app/state/saved_places.h"
#include "emulator/app/state/state_errors.h"
#include "emulator/app/state/stores.h"
#include "emulator/app/state/upgrade.h"
#include "fakes/gcs/store/moved_records.h"
#include "host/store/state_directory.h"
#include "images/byte_source.h"
#include "images/tar_reader.h"

namespace caip::app {
namespace {

namespace fs = std::filesystem;

constexpr size_t kNoteBytesMax = 1 << 20;
constexpr size_t kSumsBytesMax = 1 << 30;
constexpr int kMemberDepthMax = 512;

// The relative path of a member below the state. "" if no backup has it.
std::string PathOfMember(std::string_view name) {
  if (!name.starts_with(kBackupFolder)) return "";
  name.remove_prefix(kBackupFolder.size());
  if (name.ends_with('/')) name.remove_suffix(1);
  const std::vector<std::string> parts = Split(std::string(name), '/');
  const bool is_safe = std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
    return !part.empty() && part != "." && part != ".." && part.find('\0') == std::string::npos;
  });
  const bool is_known = is_safe && parts.size() <= kMemberDepthMax && IsSavedPlace(name);
  return is_known ? std::string(name) : "";
}

/// Reads the members of one archive into a new directory.
class BackupReader {
 public:
  BackupReader(const Path& archive, std::string_view own_version, const std::stop_token& stop)
      : archive_(archive), own_version_(own_version), stop_(stop) {}

  /// Refuses an archive that has unknown members. Those of a pipe can only be read once, so Unpack
  /// refuses them.
  Status Open() {
    fd_ = Fd(::open(archive_.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd_.valid()) return CannotOpen(archive_, errno);
    if (::lseek(fd_.get(), 0, SEEK_CUR) < 0) return Ok{};
    RETURN_IF_ERROR(Read(
        [this](images::TarReader&, const images::TarEntry& entry) { return CheckMember(entry); }));
    return ::lseek(fd_.get(), 0, SEEK_SET) == 0 ? Status(Ok{}) : CannotRead(archive_, errno);
  }

  Result<BackupSize> Unpack(const Path& into) {
    into_ = into;
    are_checked_ = true;
    RETURN_IF_ERROR(Read([this](images::TarReader& tar, const images::TarEntry& entry) {
      return ReadMember(tar, entry);
    }));
    return size_;
  }

 private:
  template <typename T>
  Result<T> AsBackup(Result<T> result) const {
    if (result.ok() || result.error().code != Code::kDataLoss) return result;
    return errors::NotABackup(archive_, result.error().message);
  }

  // After the note: it is a backup.
  template <typename T>
  Result<T> AsWhole(Result<T> result) const {
    if (result.ok() || result.error().code != Code::kDataLoss) return result;
    return errors::BackupCutOff(archive_);
  }

  template <typename Take>
  Status Read(const Take& take) {
    ASSIGN_OR_RETURN(const auto source, AsBackup(images::DecompressedFile::Open(fd_.get())));
    images::TarReader tar(*source);
    ASSIGN_OR_RETURN(const images::TarEntry* entry, AsBackup(tar.Next()));
    RETURN_IF_ERROR(ReadNote(tar, entry));
    while (true) {
      if (stop_.stop_requested()) return errors::RestoreStopped();
      ASSIGN_OR_RETURN(entry, AsWhole(tar.Next()));
      if (entry == nullptr) return errors::BackupCutOff(archive_);
      if (entry->path == kBackupSums) break;
      RETURN_IF_ERROR(take(tar, *entry));
    }
    if (are_checked_) RETURN_IF_ERROR(CheckSums(tar, *entry));
    ASSIGN_OR_RETURN(entry, AsWhole(tar.Next()));
    if (entry != nullptr) return errors::BackupMemberUnknown(archive_, entry->path);
    return tar.HasEnd() ? Status(Ok{}) : Status(errors::BackupCutOff(archive_));
  }

  Status CheckMember(const images::TarEntry& entry) const {
    const bool is_plain =
        entry.kind == images::EntryKind::kFile || entry.kind == images::EntryKind::kDirectory;
    return is_plain && !PathOfMember(entry.path).empty()
               ? Status(Ok{})
               : Status(errors::BackupMemberUnknown(archive_, entry.path));
  }

  Status ReadNote(images::TarReader& tar, const images::TarEntry* entry) {
    const bool is_note = entry != nullptr && entry->path == kBackupNote &&
                         entry->kind == images::EntryKind::kFile && entry->size <= kNoteBytesMax;
    if (!is_note) {
      return errors::NotABackup(archive_, "it does not begin with " + std::string(kBackupNote));
    }
    ASSIGN_OR_RETURN(const std::string text, ReadText(tar));
    const auto note = ParseJson(text);
    if (!note.ok() || StringOr(*note, "format") != "caip-state-backup") {
      return errors::NotABackup(archive_,
                                std::string(kBackupNote) + " is not the note of a backup");
    }
    digests_[std::string(kBackupNote)] = Sha256Hex(text);
    const bool is_newer = IntOr(*note, "formatVersion", 0) > kBackupFormat ||
                          IntOr(*note, "stateLayout", 0) > kStateLayout;
    return is_newer ? Status(errors::BackupTooNew(archive_, StringOr(*note, "caipVersion"),
                                                  own_version_))
                    : Status(Ok{});
  }

  Result<std::string> ReadText(images::TarReader& tar) const {
    std::string text;
    const auto add = [&text](std::string_view bytes, uint64_t offset) -> Status {
      text.resize(offset);  // a hole has zeros
      text += bytes;
      return Ok{};
    };
    const Status read = tar.ReadData(add);
    if (!read.ok()) return errors::NotABackup(archive_, read.error().message);
    return text;
  }

  Status ReadMember(images::TarReader& tar, const images::TarEntry& entry) {
    RETURN_IF_ERROR(CheckMember(entry));
    const std::string path = PathOfMember(entry.path);
    if (entry.kind == images::EntryKind::kFile) return ReadFileMember(tar, entry, into_ / path);
    if (::mkdir((into_ / path).c_str(), 0700) == 0) return Ok{};
    if (errno == EEXIST || errno == ENOENT || errno == ENOTDIR) {
      return errors::BackupMemberUnknown(archive_, entry.path);  // twice, or without its parent
    }
    return CannotMakeDirectory(into_ / path, errno);
  }

  Status ReadFileMember(images::TarReader& tar, const images::TarEntry& entry, const Path& path) {
    const unsigned mode = entry.mode & 0777;
    const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd.valid() && (errno == EEXIST || errno == ENOENT || errno == ENOTDIR)) {
      return errors::BackupMemberUnknown(archive_, entry.path);
    }
    if (!fd.valid()) return CannotCreate(path, errno);
    Sha256Digest digest;
    uint64_t written = 0;
    const auto write = [&](std::string_view bytes, uint64_t offset) -> Status {
      if (stop_.stop_requested()) return errors::RestoreStopped();
      if (offset != written) return errors::BackupMemberUnknown(archive_, entry.path);  // a hole
      digest.Add(bytes);
      written += bytes.size();
      return WriteAll(fd.get(), bytes) ? Status(Ok{}) : Status(CannotWrite(path, errno));
    };
    const timespec times[2] = {{0, UTIME_OMIT}, {entry.mtime, entry.mtime_nanoseconds}};
    const std::string name = entry.path;
    if (const Status read = tar.ReadData(write); !read.ok()) {
      const bool is_damaged = read.error().reason == "archiveBroken";
      return is_damaged ? errors::BackupCutOff(archive_) : read.error();
    }
    if (::fchmod(fd.get(), mode) != 0 || ::futimens(fd.get(), times) != 0) {
      return CannotProtect(path, errno);
    }
    digests_[name] = digest.FinishHex();
    ++size_.files;
    size_.bytes += written;
    return Ok{};
  }

  // The lines have every file once, in any order.
  Status CheckSums(images::TarReader& tar, const images::TarEntry& entry) const {
    if (entry.kind != images::EntryKind::kFile || entry.size > kSumsBytesMax) {
      return errors::BackupMemberUnknown(archive_, entry.path);
    }
    ASSIGN_OR_RETURN(const std::string text, ReadText(tar));
    std::map<std::string, std::string> left;  // the lines by the names in them
    for (const std::string& line : Split(text, '\n')) {
      if (!line.empty()) left[NameOfLine(line)] = line;
    }
    for (const auto& [name, digest] : digests_) {
      std::string line = SumLine(digest, name);
      line.pop_back();  // the line break
      const auto given = left.find(NameOfLine(line));
      if (given == left.end() || given->second != line)
        return errors::BackupDamaged(archive_, name);
      left.erase(given);
    }
    return left.empty() ? Status(Ok{})
                        : Status(errors::BackupDamaged(archive_, left.begin()->first));
  }

  static std::string NameOfLine(const std::string& line) {
    const size_t blanks = line.find("  ");
    return blanks == std::string::npos ? "" : line.substr(blanks + 2);
  }

  const Path& archive_;
  std::string_view own_version_;
  const std::stop_token& stop_;
  Fd fd_;
  Path into_;
  bool are_checked_ = false;                    // the digests
  std::map<std::string, std::string> digests_;  // by the names of members
  BackupSize size_;
};

// The lock's file shows an emulator that the directory is for states, whatever its mode is by then.
Status MakeLock(const Path& directory, std::string_view own_version) {
  const auto owned =
      host::StateDirectory::Own(directory, std::string(own_version), SystemClock().Now());
  return owned.ok() ? Status(Ok{}) : Status(owned.error());
}

// A database with an unknown schema would be refused only when the state is used.
Status CheckDatabases(const Path& archive, const Path& state, std::string_view own_version) {
  for (const Store& store : Stores()) {
    const auto version = StoredVersion(state / store.file);
    if (!version.ok()) return errors::BackupDamaged(archive, store.file);
    if (*version && **version > store.version)
      return errors::BackupTooNew(archive, "", own_version);
  }
  return Ok{};
}

Result<BackupSize> Restore(const Path& archive, const Path& directory, std::string_view own_version,
                           const std::stop_token& stop) {
  ASSIGN_OR_RETURN(const Path state, ResolveState(directory));
  RETURN_IF_ERROR(CheckIsEmpty(state));
  RETURN_IF_ERROR(host::CheckIsOnThisHost(state));
  BackupReader reader(archive, own_version, stop);
  RETURN_IF_ERROR(reader.Open());
  ASSIGN_OR_RETURN(RestoringDirectory made, RestoringDirectory::Make(state));
  ASSIGN_OR_RETURN(const BackupSize size, reader.Unpack(made.path()));
  RETURN_IF_ERROR(CheckDatabases(archive, made.path(), own_version));
  std::error_code error;
  const Path records = made.path() / kObjectRecords;
  if (fs::exists(records, error) && fs::exists(made.path() / kBuckets, error)) {
    RETURN_IF_ERROR(gcs::AttachRecords(records, made.path() / kBuckets));
  }
  RETURN_IF_ERROR(MakeLock(made.path(), own_version));
  RETURN_IF_ERROR(made.Become(state));
  return size;
}

}  // namespace

Result<BackupSize> RestoreState(const Path& archive, const Path& state,
                                std::string_view own_version, const std::stop_token& stop) {
  auto restored = Restore(archive, state, own_version, stop);
  if (!restored.ok()) return errors::RestoreFailed(state, restored.error());
  return restored;
}

}  // namespace caip::app
