#include "emulator/app/state/backup.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <vector>

#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "base/time_text.h"
#include "emulator/app/state/state_errors.h"
#include "emulator/app/state/stores.h"
#include "fakes/gcs/store/moved_records.h"

namespace caip::app {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBackupPieceBytes = 1 << 20;
constexpr const char* kObjectRecords = "buckets.db";

struct FreeWriter {
  void operator()(archive* writer) const { archive_write_free(writer); }
};
struct FreeMember {
  void operator()(archive_entry* member) const { archive_entry_free(member); }
};

/// Writes members to a tar archive, and the digests of its files.
class BackupWriter {
 public:
  BackupWriter(const Path& file, std::string_view ending) : file_(file), ending_(ending) {}

  Status Open() {
    fd_ = Fd(::open(file_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!fd_.valid()) return CannotCreate(file_, errno);
    writer_.reset(archive_write_new());
    archive_write_set_format_pax(writer_.get());  // times with nanoseconds
    if (ending_ == ".gz" || ending_ == ".tgz") {
      RETURN_IF_ERROR(Check(archive_write_add_filter_gzip(writer_.get())));
    } else if (ending_ == ".zst") {
      RETURN_IF_ERROR(Check(archive_write_add_filter_zstd(writer_.get())));
    }
    // names are bytes, whatever the locale is
    RETURN_IF_ERROR(Check(archive_write_set_options(writer_.get(), "hdrcharset=BINARY")));
    return Check(archive_write_open_fd(writer_.get(), fd_.get()));
  }

  Status AddText(std::string_view name, std::string_view text, Instant time) {
    struct stat facts = {};
    facts.st_mode = S_IFREG | 0600;
    facts.st_size = static_cast<off_t>(text.size());
    facts.st_mtime = std::chrono::system_clock::to_time_t(
        std::chrono::time_point_cast<std::chrono::system_clock::duration>(time));
    RETURN_IF_ERROR(Begin(std::string(name), facts));
    RETURN_IF_ERROR(Write(text));
    sums_ += SumLine(Sha256Hex(text), name);
    return Ok{};
  }

  Status AddDirectory(const Path& directory, const std::string& name) {
    struct stat facts = {};
    if (::stat(directory.c_str(), &facts) != 0) return CannotLookAt(directory, errno);
    return Begin(name, facts);
  }

  /// The file may grow meanwhile: it is saved as long as it is now.
  Status AddFile(const Path& path, const std::string& name) {
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    struct stat facts = {};
    if (!fd.valid() || ::fstat(fd.get(), &facts) != 0) return CannotOpen(path, errno);
    RETURN_IF_ERROR(Begin(name, facts));
    Sha256Digest digest;
    buffer_.resize(kBackupPieceBytes);
    for (auto left = static_cast<size_t>(facts.st_size); left > 0;) {
      const ssize_t count = ::read(fd.get(), buffer_.data(), std::min(left, buffer_.size()));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return CannotRead(path, errno);
      if (count == 0) return errors::FileShrank(path);
      const std::string_view piece(buffer_.data(), static_cast<size_t>(count));
      digest.Add(piece);
      RETURN_IF_ERROR(Write(piece));
      left -= piece.size();
    }
    sums_ += SumLine(digest.FinishHex(), name);
    ++size_.files;
    size_.bytes += static_cast<uint64_t>(facts.st_size);
    return Ok{};
  }

  /// Writes the digests, and waits until the archive is on disk.
  Result<BackupSize> Finish(Instant time) {
    const std::string sums = std::move(sums_);
    RETURN_IF_ERROR(AddText(kBackupSums, sums, time));
    RETURN_IF_ERROR(Check(archive_write_close(writer_.get())));
    if (::fsync(fd_.get()) != 0) return CannotSync(file_, errno);
    return size_;
  }

 private:
  Status Begin(const std::string& name, const struct stat& facts) {
    const std::unique_ptr<archive_entry, FreeMember> member(archive_entry_new());
    archive_entry_set_pathname(member.get(), name.c_str());
    archive_entry_set_mode(member.get(), facts.st_mode);
    archive_entry_set_mtime(member.get(), facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec);
    if (S_ISREG(facts.st_mode)) archive_entry_set_size(member.get(), facts.st_size);
    return Check(archive_write_header(writer_.get(), member.get()));
  }

  Status Write(std::string_view piece) {
    while (!piece.empty()) {
      const la_ssize_t count = archive_write_data(writer_.get(), piece.data(), piece.size());
      if (count <= 0) return Check(ARCHIVE_FATAL);
      piece.remove_prefix(static_cast<size_t>(count));
    }
    return Ok{};
  }

  Status Check(int code) {
    if (code == ARCHIVE_OK || code == ARCHIVE_WARN) return Ok{};
    const char* why = archive_error_string(writer_.get());
    const int number = archive_errno(writer_.get());
    return errors::BackupNotWritten(file_, number, why == nullptr ? "" : why);
  }

  Path file_;
  std::string ending_;
  Fd fd_;
  std::unique_ptr<archive, FreeWriter> writer_;
  std::string buffer_;
  std::string sums_;
  BackupSize size_;
};

Json BackupNoteJson(const Snapshot& snapshot, const BackupOptions& options) {
  Json databases = Json::object();
  for (const Store& store : Stores()) {
    const auto version = StoredVersion(snapshot.path() / store.file);
    if (version.ok() && *version) databases[std::string(store.file)] = **version;
  }
  return {{"format", "caip-state-backup"},  {"formatVersion", kBackupFormat},
          {"caipVersion", options.version}, {"time", Rfc3339(options.now)},
          {"stateLayout", kStateLayout},    {"databases", databases}};
}

// The records of objects come last: the files may have changed by hand until then.
Result<BackupSize> WriteBackup(const Path& state, const Snapshot& snapshot, BackupWriter& writer,
                               const BackupOptions& options) {
  RETURN_IF_ERROR(writer.Open());
  const std::string note = PrettyJson(BackupNoteJson(snapshot, options)) + "\n";
  RETURN_IF_ERROR(writer.AddText(kBackupNote, note, options.now));
  bool has_records = false;
  for (const Path& entry : snapshot.entries()) {
    const std::string name = std::string(kBackupFolder) + entry.string();
    const Path path = snapshot.path() / entry;
    std::error_code error;
    if (fs::is_directory(fs::symlink_status(path, error))) {
      RETURN_IF_ERROR(writer.AddDirectory(path, name + "/"));
    } else if (entry == kObjectRecords) {
      has_records = true;
    } else {
      RETURN_IF_ERROR(writer.AddFile(path, name));
    }
  }
  if (has_records) {
    const Path records = snapshot.path() / kObjectRecords;
    const Path buckets = snapshot.path() / "buckets";
    std::error_code error;
    if (fs::exists(buckets, error)) {
      if (fs::exists(state / kObjectRecords, error)) {
        RETURN_IF_ERROR(gcs::AdoptLaterRecords(records, buckets, state / kObjectRecords));
      }
      RETURN_IF_ERROR(gcs::DetachRecords(records, buckets));
    }
    RETURN_IF_ERROR(writer.AddFile(records, std::string(kBackupFolder) + kObjectRecords));
  }
  return writer.Finish(options.now);
}

/// A file that is deleted unless it was given its name.
class UnfinishedFile {
 public:
  explicit UnfinishedFile(Path path) : path_(std::move(path)) {}
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;
  ~UnfinishedFile() { ::unlink(path_.c_str()); }
  const Path& path() const { return path_; }

  Status Name(const Path& name) {
    // Does not replace a file that was made meanwhile, where the file system can do that.
    bool named =
        ::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, name.c_str(), RENAME_NOREPLACE) == 0;
    if (!named && errno == EEXIST) return errors::BackupExists(name);
    if (!named && errno == EINVAL) named = ::rename(path_.c_str(), name.c_str()) == 0;
    if (!named) return CannotRename(path_, errno);
    return SyncDirectory(name.has_parent_path() ? name.parent_path() : Path("."));
  }

 private:
  Path path_;
};

}  // namespace

std::string SumLine(std::string_view digest, std::string_view name) {
  const bool is_plain = name.find_first_of("\\\n\r") == std::string_view::npos;
  std::string escaped(name);
  if (!is_plain) {
    escaped = ReplaceAll(escaped, "\\", "\\\\");
    escaped = ReplaceAll(escaped, "\n", "\\n");
    escaped = ReplaceAll(escaped, "\r", "\\r");
  }
  return (is_plain ? "" : "\\") + std::string(digest) + "  " + escaped + "\n";
}

Result<BackupSize> BackUpState(const Path& state, const Path& archive,
                               const BackupOptions& options) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(archive, error))) return errors::BackupExists(archive);
  UnfinishedFile unfinished(archive.string() + ".unfinished-" + std::to_string(::getpid()));
  BackupWriter writer(unfinished.path(), archive.extension().string());
  ASSIGN_OR_RETURN(const Snapshot snapshot, Snapshot::Take(state, options.snapshot));
  ASSIGN_OR_RETURN(const BackupSize size, WriteBackup(state, snapshot, writer, options));
  RETURN_IF_ERROR(unfinished.Name(archive));
  return size;
}

}  // namespace caip::app
