#include "emulator/app/state/backup.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <locale.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <map>
#include <memory>
#include <vector>

#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "base/time_text.h"
#include "emulator/app/state/state_errors.h"
#include "emulator/app/state/stores.h"
#include "fakes/gcs/store/bucket_tree.h"
#include "fakes/gcs/store/moved_records.h"
#include "images/archive_problem.h"

namespace caip::app {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBackupPieceBytes = 1 << 20;
constexpr std::string_view kObjectFolder = "buckets/";

struct FreeWriter {
  void operator()(archive* writer) const { archive_write_free(writer); }
};
struct FreeMember {
  void operator()(archive_entry* member) const { archive_entry_free(member); }
};

/// A file without a name, or with another one where the file system needs one. It is deleted unless
/// it gets its name.
class UnfinishedFile {
 public:
  explicit UnfinishedFile(Path name) : name_(std::move(name)) {}
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;
  ~UnfinishedFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  const Path& name() const { return name_; }
  int fd() const { return fd_.get(); }

  Status Open() {
    const std::string folder = Folder().string();
    fd_ = Fd(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
    if (fd_.valid()) return Ok{};
    if (errno != EOPNOTSUPP && errno != EISDIR) return CannotCreate(name_, errno);
    // Another user may have made a file or a link of a name that can be guessed.
    std::string path = name_.string() + ".unfinished-XXXXXX";
    fd_ = Fd(::mkostemp(path.data(), O_CLOEXEC));
    if (!fd_.valid()) return CannotCreate(name_, errno);
    path_ = path;
    return Ok{};
  }

  /// Does not replace a file that was made meanwhile, where the file system can do that.
  Status Finish() {
    if (::fsync(fd_.get()) != 0) return CannotSync(name_, errno);
    const std::string itself = "/proc/self/fd/" + std::to_string(fd_.get());
    const bool named = path_.empty() ? ::linkat(AT_FDCWD, itself.c_str(), AT_FDCWD, name_.c_str(),
                                                AT_SYMLINK_FOLLOW) == 0
                                     : Rename();
    if (!named && errno == EEXIST) return errors::BackupExists(name_);
    return named ? SyncDirectory(Folder()) : Status(CannotCreate(name_, errno));
  }

 private:
  Path Folder() const { return name_.has_parent_path() ? name_.parent_path() : Path("."); }

  bool Rename() const {
    const char* from = path_.c_str();
    if (::renameat2(AT_FDCWD, from, AT_FDCWD, name_.c_str(), RENAME_NOREPLACE) == 0) return true;
    return errno == EINVAL && ::rename(from, name_.c_str()) == 0;
  }

  Path name_;
  Path path_;  // of the other name
  Fd fd_;
};

/// Lets this thread take names for UTF-8. In another locale, libarchive marks each member's names
/// as bytes, of which GNU tar warns.
class Utf8Names {
 public:
  Utf8Names() : locale_(::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {
    if (locale_ != nullptr) before_ = ::uselocale(locale_);
  }
  Utf8Names(const Utf8Names&) = delete;
  Utf8Names& operator=(const Utf8Names&) = delete;
  ~Utf8Names() {
    if (locale_ == nullptr) return;
    ::uselocale(before_);
    ::freelocale(locale_);
  }

 private:
  locale_t locale_;  // null: this host has none of that name
  locale_t before_ = nullptr;
};

/// Writes members to a tar archive, and the digests of its files.
class BackupWriter {
 public:
  BackupWriter(const Path& archive, std::stop_token stop)
      : file_(archive), stop_(std::move(stop)) {}

  Status Open() {
    RETURN_IF_ERROR(file_.Open());
    writer_.reset(archive_write_new());
    archive_write_set_format_pax(writer_.get());  // times with nanoseconds
    // A libarchive without a compression warns, and would run a program of the PATH.
    const std::string ending = file_.name().extension().string();
    int filter = ARCHIVE_OK;
    if (ending == ".gz" || ending == ".tgz") filter = archive_write_add_filter_gzip(writer_.get());
    if (ending == ".zst") filter = archive_write_add_filter_zstd(writer_.get());
    if (filter != ARCHIVE_OK) return errors::CompressionMissing(file_.name());
    return Check(archive_write_open_fd(writer_.get(), file_.fd()));
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

  /// The file may grow meanwhile: it is saved as long as it is now. Returns what was saved: nothing
  /// known if the file was changed meanwhile.
  Result<gcs::FileIdentity> AddFile(const Path& path, const std::string& name) {
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    struct stat facts = {};
    if (!fd.valid() || ::fstat(fd.get(), &facts) != 0) return CannotOpen(path, errno);
    RETURN_IF_ERROR(Begin(name, facts));
    Sha256Digest digest;
    buffer_.resize(kBackupPieceBytes);
    for (auto left = static_cast<size_t>(facts.st_size); left > 0;) {
      if (stop_.stop_requested()) return errors::BackupStopped();
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
    const gcs::FileIdentity before = gcs::IdentityOf(facts);
    if (::fstat(fd.get(), &facts) != 0) return CannotLookAt(path, errno);
    return gcs::IdentityOf(facts) == before ? before : gcs::FileIdentity();
  }

  /// Writes the digests, waits until the archive is on disk, and gives it its name.
  Result<BackupSize> Finish(Instant time) {
    const std::string sums = std::move(sums_);
    RETURN_IF_ERROR(AddText(kBackupSums, sums, time));
    RETURN_IF_ERROR(Check(archive_write_close(writer_.get())));
    RETURN_IF_ERROR(file_.Finish());
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
    const int number = archive_errno(writer_.get());
    const std::string why = images::ArchiveProblem(writer_.get(), "libarchive gave no reason");
    return errors::BackupNotWritten(file_.name(), number, why);
  }

  UnfinishedFile file_;
  std::stop_token stop_;
  Utf8Names names_;
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

/// The files below the buckets as they were saved.
using SavedObjects = std::map<std::string, gcs::FileIdentity, std::less<>>;

Result<SavedObjects> SaveFiles(const Snapshot& snapshot, BackupWriter& writer) {
  SavedObjects objects;
  for (const Path& entry : snapshot.entries()) {
    const std::string name = std::string(kBackupFolder) + entry.string();
    const Path path = snapshot.path() / entry;
    std::error_code error;
    if (fs::is_directory(fs::symlink_status(path, error))) {
      RETURN_IF_ERROR(writer.AddDirectory(path, name + "/"));
    } else if (entry != kObjectRecords) {
      ASSIGN_OR_RETURN(const gcs::FileIdentity file, writer.AddFile(path, name));
      if (entry.string().starts_with(kObjectFolder)) {
        objects[entry.string().substr(kObjectFolder.size())] = file;
      }
    }
  }
  return objects;
}

// A file may change by hand until it is saved, and after that. Its record must describe the bytes
// that were saved.
Status FitRecords(const Path& state, const Snapshot& snapshot, const SavedObjects& objects) {
  const Path records = snapshot.path() / kObjectRecords;
  const auto identify = [&](const std::string& path) -> std::optional<gcs::FileIdentity> {
    const auto at = objects.find(path);
    return at == objects.end() ? std::nullopt : std::optional(at->second);
  };
  std::error_code error;
  if (!fs::exists(snapshot.path() / kObjectFolder, error)) return Ok{};
  if (fs::exists(state / kObjectRecords, error)) {
    RETURN_IF_ERROR(
        gcs::AdoptLaterRecords(records, identify, state / kObjectRecords, snapshot.copies()));
  }
  return gcs::DetachRecords(records, identify);
}

// The records of objects come last.
Result<BackupSize> WriteBackup(const Path& state, const Snapshot& snapshot, BackupWriter& writer,
                               const BackupOptions& options) {
  RETURN_IF_ERROR(writer.Open());
  const std::string note = PrettyJson(BackupNoteJson(snapshot, options)) + "\n";
  RETURN_IF_ERROR(writer.AddText(kBackupNote, note, options.now));
  ASSIGN_OR_RETURN(const SavedObjects objects, SaveFiles(snapshot, writer));
  if (options.before_records) options.before_records();
  std::error_code error;
  if (fs::exists(snapshot.path() / kObjectRecords, error)) {
    if (const Status fitted = FitRecords(state, snapshot, objects); !fitted.ok()) {
      return errors::SnapshotFailed(state, fitted.error());
    }
    RETURN_IF_ERROR(writer.AddFile(snapshot.path() / kObjectRecords,
                                   std::string(kBackupFolder) + kObjectRecords));
  }
  return writer.Finish(options.now);
}

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
  BackupWriter writer(archive, options.snapshot.stop);
  const auto snapshot = Snapshot::Take(state, options.snapshot);
  if (!snapshot.ok()) return errors::SnapshotFailed(state, snapshot.error());
  auto saved = WriteBackup(state, *snapshot, writer, options);
  if (!saved.ok()) return errors::BackupFailed(archive, saved.error());
  return saved;
}

}  // namespace caip::app
