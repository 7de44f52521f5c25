#include "fakes/gcs/store/directory_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/hash.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/store/bucket_store.h"
#include "fakes/gcs/store/checksums.h"
#include "fakes/gcs/store/directory_writer.h"
#include "fakes/gcs/store/file_errors.h"
#include "fakes/gcs/store/listing.h"
#include "fakes/gcs/store/names.h"

namespace caip::gcs {
namespace {

constexpr std::chrono::hours kUploadsKept(7 * 24);  // as long as the service keeps a session
constexpr const char* kDefaultType = "application/octet-stream";
constexpr int kHashTries = 3;

Result<Fd> OpenDirectory(const Path& path) {
  RETURN_IF_ERROR(MakeDirectories(path));
  Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return CannotOpen(path, errno);
  return fd;
}

// Without openat2, each request would fail, and tell only of its own bucket.
Status CheckPathsCanBeKeptBelow(int root, const Path& shown) {
  if (OpenBeneath(root, "", O_RDONLY | O_DIRECTORY).valid()) return Ok{};
  if (errno == ENOSYS || errno == EPERM) return errors::NoOpenat2(errno);
  return CannotOpen(shown, errno);
}

// Removes the files that were last written more than `older_than` ago, by the file system's clock.
void RemoveLeftovers(const Path& directory, std::chrono::hours older_than) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
    const auto written = entry.last_write_time(ignored);
    const bool old = std::filesystem::file_time_type::clock::now() - written > older_than;
    if (old) ::unlink(entry.path().c_str());
  }
}

void RemoveContents(int directory) {
  for (const std::string& name : NamesIn(directory)) (void)RemoveTreeAt(directory, name).ok();
}

// Differs after each start of the host. "" if the kernel does not say it.
std::string BootId() {
  const auto id = ReadFile("/proc/sys/kernel/random/boot_id");
  return id.ok() ? *id : "";
}

class FileReader final : public ObjectReader {
 public:
  FileReader(Fd fd, ObjectInfo info) : fd_(std::move(fd)), info_(std::move(info)) {}
  const ObjectInfo& info() const override { return info_; }
  int descriptor() const override { return fd_.get(); }
  Result<size_t> ReadAt(uint64_t offset, char* buffer, size_t size) override {
    if (offset >= info_.size) return size_t{0};
    size = static_cast<size_t>(std::min<uint64_t>(size, info_.size - offset));
    while (true) {
      const ssize_t count = ::pread(fd_.get(), buffer, size, static_cast<off_t>(offset));
      if (count >= 0) return static_cast<size_t>(count);
      if (errno != EINTR) return errors::CannotReadObject(info_.name, errno);
    }
  }

 private:
  Fd fd_;
  ObjectInfo info_;
};

class KeptReader final : public ObjectReader {
 public:
  KeptReader(RecordPtr record, std::shared_ptr<const std::string> bytes)
      : record_(std::move(record)), bytes_(std::move(bytes)) {}
  const ObjectInfo& info() const override { return record_->info; }
  Result<size_t> ReadAt(uint64_t offset, char* buffer, size_t size) override {
    return offset >= bytes_->size() ? size_t{0} : bytes_->copy(buffer, size, offset);
  }
  const std::string* bytes() const override { return bytes_.get(); }

 private:
  RecordPtr record_;
  std::shared_ptr<const std::string> bytes_;
};

}  // namespace

Result<std::unique_ptr<DirectoryStore>> DirectoryStore::Open(DirectoryStoreOptions options,
                                                             const Clock& clock) {
  if (options.uploads.empty()) options.uploads = options.root.parent_path() / "uploads";
  Directories directories;
  ASSIGN_OR_RETURN(directories.root, OpenDirectory(options.root));
  const int root = directories.root.get();
  RETURN_IF_ERROR(CheckPathsCanBeKeptBelow(root, options.root));
  ASSIGN_OR_RETURN(directories.temporary,
                   OpenOwnDirectory(root, options.root / kTemporaryDirectory));
  ASSIGN_OR_RETURN(directories.versions, OpenOwnDirectory(root, options.root / kVersionsDirectory));
  ASSIGN_OR_RETURN(directories.uploads, OpenDirectory(options.uploads));
  RemoveLeftovers(options.uploads, kUploadsKept);
  Path side_file = options.root;
  side_file += ".db";
  const int64_t boot = static_cast<int64_t>(Fnv1a(options.boot.empty() ? BootId() : options.boot));
  ASSIGN_OR_RETURN(auto side, SideStore::Open(side_file, options.durable, boot));
  std::unique_ptr<DirectoryStore> store(
      new DirectoryStore(std::move(options), clock, std::move(directories), std::move(side)));
  RETURN_IF_ERROR(store->RestoreUploads());
  RETURN_IF_ERROR(store->RestoreSmallObjects());
  RETURN_IF_ERROR(store->RestoreCommits());
  RemoveContents(store->directories_.temporary.get());
  store->temporary_files_ = std::make_unique<TemporaryFiles>(store->directories_.temporary.get(),
                                                             store->options_.temporary_patience);
  store->CompleteCommits();
  store->ClearVersions();
  return store;
}

DirectoryStore::DirectoryStore(DirectoryStoreOptions options, const Clock& clock,
                               Directories directories, std::unique_ptr<SideStore> side)
    : options_(std::move(options)),
      clock_(clock),
      directories_(std::move(directories)),
      side_(std::move(side)),
      file_sync_(std::make_unique<FileSync>(
          directories_.root.get(), *side_, options_.sync_delay,
          [this](const std::string& bucket) { return std::unique_lock(LockOf(bucket).mutex); })) {}

Result<BucketTree> DirectoryStore::OpenBucket(const std::string& name) const {
  if (const auto problem = BucketNameProblem(name))
    return errors::BucketNameInvalid(name, *problem);
  Fd directory = OpenBeneath(directories_.root.get(), name, O_RDONLY | O_DIRECTORY);
  if (directory.valid()) return BucketTree(std::move(directory), name);
  if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) return errors::BucketNotFound(name);
  return errors::CannotOpenBucket(name, errno);
}

Status DirectoryStore::CheckBucket(const std::string& name) const {
  if (const auto problem = BucketNameProblem(name))
    return errors::BucketNameInvalid(name, *problem);
  struct stat status {};
  if (::fstatat(directories_.root.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
    return S_ISDIR(status.st_mode) ? Status(Ok{}) : errors::BucketNotFound(name);
  }
  return errno == ENOENT ? errors::BucketNotFound(name) : errors::CannotOpenBucket(name, errno);
}

Path DirectoryStore::PathOf(const std::string& bucket, const std::string& object) const {
  const std::string_view name = object;
  const Path directory = options_.root / bucket;
  if (name.empty()) return directory;
  return directory / PlainPath(name.ends_with('/') ? name.substr(0, name.size() - 1) : name);
}

// A file that is new or has changed by hand becomes an object with a new generation.
ObjectRecord DirectoryStore::Adopt(const std::string& bucket, const std::string& name,
                                   const FileIdentity& file, bool stages) const {
  ObjectRecord record;
  record.file = file;
  record.info.bucket = bucket;
  record.info.name = name;
  record.info.size = file.size;
  record.info.content_type = kDefaultType;
  const auto rules = RulesFor(bucket);
  record.info.storage_class = (rules.ok() ? *rules : BucketRules()).default_storage_class;
  record.info.generation = side_->NextGeneration(clock_.Now());
  record.info.time_created = record.info.updated = Instant(Duration(file.modified_ns));
  if (stages) side_->StageObject(record);
  return record;
}

Result<DirectoryStore::Found> DirectoryStore::FindLocked(const BucketTree& tree,
                                                         const std::string& name) const {
  if (const auto problem = ObjectNameProblem(name))
    return errors::ObjectNameInvalid(name, *problem);
  ASSIGN_OR_RETURN(OpenFile file, tree.Open(name));
  const auto* const placing = FindPlacing(tree.bucket(), name);
  std::optional<ObjectRecord> record;
  if (placing) {
    if (*placing) record = **placing;
  } else {
    ASSIGN_OR_RETURN(const RecordPtr known, side_->FindObject(tree.bucket(), name));
    if (known) record = *known;
  }
  const bool changed = !record || record->file != file.identity;
  if (changed) record = Adopt(tree.bucket(), name, file.identity, placing == nullptr);
  return Found{std::move(file), std::move(*record), changed};
}

// Handles the usual case without the lock. A file and a record that agree belong together, even
// while one of them is being replaced. In any other case, the caller looks again with the lock.
std::optional<DirectoryStore::Found> DirectoryStore::FindUnlocked(const std::string& bucket,
                                                                  const std::string& name,
                                                                  bool unsaved) const {
  if (BucketNameProblem(bucket) || ObjectNameProblem(name)) return std::nullopt;
  std::string path = PlainPath(name);
  OpenFile file = OpenPlainFile(directories_.root.get(), bucket + "/" + path);
  if (!file.fd.valid()) return std::nullopt;
  RecordPtr record;
  if (!unsaved) {
    record = FindSaved(bucket, name);
  } else if (auto found = side_->FindObject(bucket, name); found.ok()) {
    record = std::move(*found);
  }
  if (!record || record->file != file.identity) return std::nullopt;
  file.path = std::move(path);
  return Found{std::move(file), *record};
}

Result<DirectoryStore::Found> DirectoryStore::Find(const std::string& bucket,
                                                   const std::string& name, bool hashed,
                                                   bool unsaved) const {
  if (auto unlocked = FindUnlocked(bucket, name, unsaved)) {
    if (!hashed || unlocked->record.hashed) return std::move(*unlocked);
  }
  ASSIGN_OR_RETURN(const BucketTree tree, OpenBucket(bucket));
  std::unique_lock lock(LockOf(bucket).mutex);
  auto found = FindLocked(tree, name);
  if (found.ok() && !unsaved) ShowSaved(&found->record);
  lock.unlock();
  if (!found.ok() || !hashed || found->record.hashed) return found;
  return FindHashed(bucket, name, std::move(*found));
}

// Finds the live version, or the one that the request names.
Result<DirectoryStore::Found> DirectoryStore::FindVersion(const std::string& bucket,
                                                          const std::string& name,
                                                          const Version& version) const {
  if (version.generation == 0 && !version.soft_deleted) {
    return Find(bucket, name, true, version.unsaved);
  }
  RETURN_IF_ERROR(OpenBucket(bucket));
  if (!version.soft_deleted) {
    auto live = Find(bucket, name, false, version.unsaved);
    if (live.ok() && live->record.info.generation == version.generation) {
      if (live->record.hashed) return live;
      return FindHashed(bucket, name, std::move(*live));
    }
    if (!live.ok() && live.error().code != Code::kNotFound) return live.error();
  }
  const std::string shown = name + "#" + std::to_string(version.generation);
  const auto absent = errors::ObjectNotFound(bucket, shown);
  ASSIGN_OR_RETURN(auto record, FindVersionRecord(bucket, name, version));
  if (!record || record->info.hard_delete_time.has_value() != version.soft_deleted) return absent;
  if (version.soft_deleted && *record->info.hard_delete_time <= clock_.Now()) return absent;
  Found found;
  found.file.path = bucket + "/" + std::to_string(version.generation);
  found.file.fd = OpenBeneath(directories_.versions.get(), found.file.path, O_RDONLY);
  if (!found.file.fd.valid() && !MeansAbsent(errno)) {
    return errors::CannotOpenObject(shown, errno);
  }
  struct stat status {};
  if (!found.file.fd.valid() || ::fstat(found.file.fd.get(), &status) != 0) return absent;
  found.file.identity = IdentityOf(status);
  if (found.file.identity != record->file) return absent;  // changed by hand: the version is lost
  found.record = std::move(*record);
  if (!found.record.hashed) {
    ASSIGN_OR_RETURN(Hashes hashes, HashFile(found.file.fd.get()));
    found.record.info.md5 = std::move(hashes.md5);
    found.record.info.crc32c = hashes.crc32c;
    found.record.hashed = true;
  }
  return found;
}

// Checksums are computed without the lock. If the file changes meanwhile, it is looked up again.
Result<DirectoryStore::Found> DirectoryStore::FindHashed(const std::string& bucket,
                                                         const std::string& name,
                                                         Found found) const {
  for (int tries = 1; !found.record.hashed; ++tries) {
    ASSIGN_OR_RETURN(Hashes hashes, HashFile(found.file.fd.get()));
    ASSIGN_OR_RETURN(const BucketTree tree, OpenBucket(bucket));
    const auto lock = LockForChange(bucket, {name});
    ASSIGN_OR_RETURN(Found now, FindLocked(tree, name));
    const bool same = now.record.info.generation == found.record.info.generation;
    if (!now.record.hashed && (same || tries == kHashTries)) {
      now.record.info.md5 = std::move(hashes.md5);
      now.record.info.crc32c = hashes.crc32c;
      now.record.hashed = true;
      if (same) side_->StageObject(now.record);  // else the file changes faster than it is read
    }
    found = std::move(now);
    found.staged = true;
  }
  return found;
}

// Running replicas may see the new directory: what hid the removed one from them went with it.
Status DirectoryStore::RenewTemporary() {
  ASSIGN_OR_RETURN(const bool is_new,
                   RenewOwnDirectory(directories_.root.get(), options_.root / kTemporaryDirectory,
                                     directories_.temporary));
  if (is_new) temporary_files_->LeaveFolders();
  return Ok{};
}

Result<TemporaryFiles::File> DirectoryStore::MakeTemporaryFile(const std::string& object) {
  TemporaryFiles::File file = temporary_files_->Make();
  if (!file.fd.valid() && errno == ENOENT) {
    RETURN_IF_ERROR(RenewTemporary());
    file = temporary_files_->Make();
  }
  if (!file.fd.valid()) return errors::CannotBeginObject(object, errno);
  return file;
}

// Gives the open file of the object another name, in the temporary directory.
Status DirectoryStore::LinkTemporary(int file, const std::string& temporary,
                                     const std::string& object) {
  const std::string itself = "/proc/self/fd/" + std::to_string(file);
  const int directory = directories_.temporary.get();
  const auto link = [&] {
    return ::linkat(AT_FDCWD, itself.c_str(), directory, temporary.c_str(), AT_SYMLINK_FOLLOW) == 0;
  };
  if (link()) return Ok{};
  if (errno == ENOENT) {
    RETURN_IF_ERROR(RenewTemporary());
    if (link()) return Ok{};
  }
  return errors::CannotMoveObject(object, errno);
}

Status DirectoryStore::EnsureBucket(const std::string& bucket) {
  Status found = CheckBucket(bucket);
  if (found.ok()) return found;
  if (found.error().code != Code::kNotFound || !options_.create_buckets) return found;
  const auto made = CreateBucket(bucket);
  if (!made.ok() && made.error().code != Code::kAlreadyExists) return made.error();
  return Ok{};
}

Result<std::unique_ptr<ObjectWriter>> DirectoryStore::NewObject(const std::string& bucket,
                                                                const std::string& name) {
  RETURN_IF_ERROR(EnsureBucket(bucket));
  if (const auto problem = ObjectNameProblem(name))
    return errors::ObjectNameInvalid(name, *problem);
  return DirectoryWriter::Start(*this, bucket, name);
}

Result<ObjectInfo> DirectoryStore::GetObject(const std::string& bucket, const std::string& name,
                                             const Version& version) const {
  ASSIGN_OR_RETURN(Found found, FindVersion(bucket, name, version));
  if (found.staged) RETURN_IF_ERROR(side_->Flush());
  return std::move(found.record.info);
}

Result<std::unique_ptr<ObjectReader>> DirectoryStore::OpenObject(const std::string& bucket,
                                                                 const std::string& name,
                                                                 const Version& version) const {
  const bool wants_live = version.generation == 0 && !version.soft_deleted;
  if (wants_live) {
    if (auto kept = OpenKept(bucket, name)) return kept;
  }
  ASSIGN_OR_RETURN(Found found, FindVersion(bucket, name, version));
  if (found.staged) RETURN_IF_ERROR(side_->Flush());
  if (wants_live) {
    if (auto bytes = kept_bytes_.Read(found.record, found.file.fd.get())) {
      return std::unique_ptr<ObjectReader>(std::make_unique<KeptReader>(
          std::make_shared<const ObjectRecord>(std::move(found.record)), std::move(bytes)));
    }
  }
  return std::unique_ptr<ObjectReader>(
      std::make_unique<FileReader>(std::move(found.file.fd), std::move(found.record.info)));
}

// Opens a small object whose record and bytes are in memory, and whose file is unchanged. nullptr
// if any of that is not so.
std::unique_ptr<ObjectReader> DirectoryStore::OpenKept(const std::string& bucket,
                                                       const std::string& name) const {
  RecordPtr record = FindSaved(bucket, name);
  if (!record || !record->hashed) return nullptr;
  if (record->file.size > KeptBytes::kFileBytesMax) return nullptr;
  struct stat status {};
  const std::string path = bucket + "/" + PlainPath(name);
  const int root = directories_.root.get();
  if (::fstatat(root, path.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return nullptr;
  if (!S_ISREG(status.st_mode) || IdentityOf(status) != record->file) return nullptr;
  auto bytes = kept_bytes_.Find(record->info.generation, status);
  if (!bytes) return nullptr;
  return std::make_unique<KeptReader>(std::move(record), std::move(bytes));
}

}  // namespace caip::gcs
