#include "images/blob_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include "images/errors.h"

namespace caip::images {
namespace {

constexpr size_t kUploadIdMax = 128;
constexpr std::string_view kOwnUpload = "caip-";
constexpr size_t kSuspendedMax = 100'000;  // of a client that starts uploads and ends none

bool IsUploadIdCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

// An id is the name of a file: it must not leave the directory.
Status CheckUploadId(std::string_view id) {
  if (id.empty() || id.size() > kUploadIdMax ||
      !std::all_of(id.begin(), id.end(), IsUploadIdCharacter)) {
    return errors::UploadIdInvalid(id);
  }
  return Ok{};
}

// Whether the name still means the open file: a writer may have finished in between.
bool IsStillNamed(int file, const Path& path) {
  struct stat open {};
  struct stat named {};
  return ::fstat(file, &open) == 0 && ::stat(path.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

// All of `bytes` at `offset`. On false, errno has the reason.
bool WriteAllAt(int file, std::string_view bytes, uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
    offset += static_cast<uint64_t>(written);
  }
  return true;
}

Result<uint64_t> BlobFileSize(const Path& path, const Error& missing) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return missing;
    return CannotLookAt(path, errno);
  }
  if (!S_ISREG(status.st_mode)) return missing;
  return static_cast<uint64_t>(status.st_size);
}

std::vector<std::string> BlobFileNames(const Path& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator at(directory, error), end; !error && at != end;
       at.increment(error)) {
    names.push_back(at->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

BlobUpload::BlobUpload(BlobStore* store, std::string id, Fd file) noexcept
    : store_(store), id_(std::move(id)), file_(std::move(file)) {}

BlobUpload::BlobUpload(BlobUpload&& other) noexcept
    : store_(std::exchange(other.store_, nullptr)),
      id_(std::move(other.id_)),
      file_(std::move(other.file_)),
      hash_(std::move(other.hash_)),
      offset_(other.offset_),
      is_prepared_(other.is_prepared_),
      intact_(other.intact_) {}

BlobUpload& BlobUpload::operator=(BlobUpload&& other) noexcept {
  if (this == &other) return *this;
  Suspend();
  store_ = std::exchange(other.store_, nullptr);
  id_ = std::move(other.id_);
  file_ = std::move(other.file_);
  hash_ = std::move(other.hash_);
  offset_ = other.offset_;
  is_prepared_ = other.is_prepared_;
  intact_ = other.intact_;
  return *this;
}

BlobUpload::~BlobUpload() { Suspend(); }

// The hash is kept for the next writer of this process. The lock is released last.
void BlobUpload::Suspend() {
  if (store_ == nullptr) return;
  if (hash_ != nullptr && offset_ > 0) {
    const std::lock_guard lock(store_->mutex_);
    auto& suspended = store_->suspended_;
    if (suspended.size() >= kSuspendedMax) suspended.erase(suspended.begin());
    suspended[id_] = {std::move(hash_), offset_};
  }
  store_ = nullptr;
  file_.Close();
}

Status BlobUpload::Append(std::string_view bytes) {
  assert(store_ != nullptr);
  is_prepared_ = false;
  if (!WriteAllAt(file_.get(), bytes, offset_)) {
    const int error = errno;
    if (::ftruncate(file_.get(), static_cast<off_t>(offset_)) != 0) {
      return CannotWrite(store_->UploadPath(id_), errno);
    }
    return CannotWrite(store_->UploadPath(id_), error);
  }
  if (hash_ != nullptr) hash_->Add(bytes);
  offset_ += bytes.size();
  return Ok{};
}

Result<Digest> BlobUpload::DigestSoFar() {
  assert(store_ != nullptr);
  if (hash_ == nullptr) RETURN_IF_ERROR(HashFile());
  return Digest::ParseHex(hash_->HexSoFar());
}

Status BlobUpload::Prepare(const Digest& expected) {
  ASSIGN_OR_RETURN(const Digest digest, DigestSoFar());
  if (digest != expected) return Ok{};
  intact_ = store_->FindIntact(digest, offset_);
  if (!intact_ && ::fsync(file_.get()) != 0) return CannotSync(store_->UploadPath(id_), errno);
  is_prepared_ = true;
  return Ok{};
}

Status BlobUpload::Finish(const Digest& expected) {
  ASSIGN_OR_RETURN(const Digest digest, DigestSoFar());
  if (digest != expected) {
    Cancel();
    return errors::DigestMismatch(expected.text(), digest.text());
  }
  return Commit(digest);
}

Result<Digest> BlobUpload::FinishAny() {
  ASSIGN_OR_RETURN(const Digest digest, DigestSoFar());
  RETURN_IF_ERROR(Commit(digest));
  return digest;
}

// A blob that has changed or gone since Prepare is replaced: the upload has the same bytes.
Status BlobUpload::Commit(const Digest& digest) {
  const BlobStore& store = *store_;
  if (!is_prepared_) intact_ = store.FindIntact(digest, offset_);
  if (intact_ && store.StateOf(digest) == intact_) {
    Cancel();
    return SyncDirectory(store.blobs_);  // another writer may have renamed it just now
  }
  if (const Status moved = MoveTo(store.PathOf(digest)); !moved.ok()) {
    ::fchmod(file_.get(), 0600);  // it can be resumed
    return moved;
  }
  if (const auto state = store.StateOf(digest)) store.Note(digest, {*state, true});
  store_ = nullptr;
  file_.Close();
  return SyncDirectory(store.blobs_);
}

Status BlobUpload::MoveTo(const Path& path) {
  const Path from = store_->UploadPath(id_);
  // A failed Append may have left bytes after the last good one.
  if (::ftruncate(file_.get(), static_cast<off_t>(offset_)) != 0) return CannotWrite(from, errno);
  if (::fchmod(file_.get(), 0444) != 0) return CannotProtect(from, errno);
  if (::fsync(file_.get()) != 0) return CannotSync(from, errno);
  if (::rename(from.c_str(), path.c_str()) != 0) return CannotRename(path, errno);
  return Ok{};
}

void BlobUpload::Cancel() {
  assert(store_ != nullptr);
  ::unlink(store_->UploadPath(id_).c_str());
  store_ = nullptr;
  file_.Close();
}

BlobStore::BlobStore(Path directory)
    : blobs_(directory / "blobs" / "sha256"), uploads_(directory / "uploads") {}

Result<std::unique_ptr<BlobStore>> BlobStore::Open(Path directory) {
  std::unique_ptr<BlobStore> store(new BlobStore(std::move(directory)));
  RETURN_IF_ERROR(MakeDirectories(store->blobs_));
  RETURN_IF_ERROR(MakeDirectories(store->uploads_));
  return store;
}

bool BlobStore::Has(const Digest& digest) const { return Size(digest).ok(); }

Result<uint64_t> BlobStore::Size(const Digest& digest) const {
  return BlobFileSize(PathOf(digest), errors::BlobUnknown(digest.text()));
}

Result<Fd> BlobStore::OpenBlob(const Digest& digest) const {
  Fd file(::open(PathOf(digest).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (file.valid()) return file;
  if (errno == ENOENT) return errors::BlobUnknown(digest.text());
  return CannotOpen(PathOf(digest), errno);
}

Result<std::string> BlobStore::Read(const Digest& digest, size_t limit) const {
  ASSIGN_OR_RETURN(const uint64_t size, Size(digest));
  if (size > limit) return errors::BlobTooLarge(digest.text(), size, limit);
  ASSIGN_OR_RETURN(std::string bytes, ReadFileUpTo(PathOf(digest), limit));
  const Digest computed = Digest::Of(bytes);
  if (computed != digest) return errors::DigestMismatch(digest.text(), computed.text());
  return bytes;
}

Status BlobStore::Remove(const Digest& digest) {
  {
    const std::lock_guard lock(mutex_);
    checked_.erase(digest);
    checked_earlier_.erase(digest);
  }
  if (::unlink(PathOf(digest).c_str()) == 0) return Ok{};
  if (errno == ENOENT) return errors::BlobUnknown(digest.text());
  return CannotRemove(PathOf(digest), errno);
}

Result<std::vector<BlobInfo>> BlobStore::List() const {
  std::vector<BlobInfo> blobs;
  for (const std::string& name : BlobFileNames(blobs_)) {
    const auto digest = Digest::ParseHex(name);
    if (!digest.ok()) continue;  // it is not ours
    const auto size = Size(*digest);
    if (size.ok()) blobs.push_back({*digest, *size});
  }
  return blobs;
}

Result<Digest> BlobStore::Put(std::string_view bytes) {
  Digest digest = Digest::Of(bytes);
  if (IsIntact(digest, bytes.size())) {
    RETURN_IF_ERROR(SyncDirectory(blobs_));  // another writer may have renamed it just now
    return digest;
  }
  ASSIGN_OR_RETURN(BlobUpload upload, BeginOwn());
  const Status appended = upload.Append(bytes);
  if (!appended.ok()) {
    upload.Cancel();
    return appended.error();
  }
  RETURN_IF_ERROR(upload.Finish(digest));
  return digest;
}

Result<BlobUpload> BlobStore::Begin(const std::string& id) {
  RETURN_IF_ERROR(CheckUploadId(id));
  const Path path = UploadPath(id);
  Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.valid() && errno == EEXIST) return errors::UploadExists(id);
  if (!file.valid()) return CannotCreate(path, errno);
  const bool is_locked = ::flock(file.get(), LOCK_EX | LOCK_NB) == 0;
  if (!is_locked || !IsStillNamed(file.get(), path)) return errors::UploadBusy(id);
  BlobUpload upload(this, id, std::move(file));
  upload.hash_ = std::make_unique<Sha256Digest>();
  return upload;
}

// Another process may have left an upload of the same number, or remove this one before it is
// locked.
Result<BlobUpload> BlobStore::BeginOwn() {
  static std::atomic<unsigned> counter{0};
  while (true) {
    auto upload = Begin(std::string(kOwnUpload) + std::to_string(::getpid()) + "-" +
                        std::to_string(counter++));
    if (upload.ok()) return upload;
    const Code code = upload.error().code;
    if (code != Code::kAlreadyExists && code != Code::kAborted) return upload;
  }
}

void BlobStore::RemoveOwnUploads() {
  for (const std::string& id : Uploads()) {
    if (!id.starts_with(kOwnUpload)) continue;
    if (auto upload = Resume(id); upload.ok()) upload->Cancel();
  }
}

Result<BlobUpload> BlobStore::Resume(const std::string& id) {
  RETURN_IF_ERROR(CheckUploadId(id));
  const Path path = UploadPath(id);
  Fd file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!file.valid() && errno == ENOENT) return errors::UploadUnknown(id);
  if (!file.valid()) return CannotOpen(path, errno);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return errors::UploadBusy(id);
  if (!IsStillNamed(file.get(), path)) return errors::UploadUnknown(id);
  ASSIGN_OR_RETURN(const uint64_t size, BlobFileSize(path, errors::UploadUnknown(id)));
  BlobUpload upload(this, id, std::move(file));
  upload.offset_ = size;
  if (size == 0) upload.hash_ = std::make_unique<Sha256Digest>();
  const std::lock_guard lock(mutex_);
  auto suspended = suspended_.extract(id);
  // Another process may have continued the upload. Then Finish reads the file.
  if (!suspended.empty() && suspended.mapped().offset == size) {
    upload.hash_ = std::move(suspended.mapped().hash);
  }
  return upload;
}

Result<uint64_t> BlobStore::Offset(const std::string& id) const {
  RETURN_IF_ERROR(CheckUploadId(id));
  return BlobFileSize(UploadPath(id), errors::UploadUnknown(id));
}

std::vector<std::string> BlobStore::Uploads() const { return BlobFileNames(uploads_); }

}  // namespace caip::images
