#include "fakes/gcs/store/directory_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/abandoned_work.h"
#include "base/encoding.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/store/directory_store.h"
#include "fakes/gcs/store/file_errors.h"

namespace caip::gcs {
namespace {

constexpr uint64_t kLargeBytes = 8 << 20;
constexpr uint64_t kCopiedBytesMax = 64 << 20;  // in one call of the kernel
constexpr int kWriteFlags = O_RDWR | O_CREAT | O_CLOEXEC;

Status CheckSums(const Hashes& hashes, const std::optional<std::string>& expected_md5,
                 const std::optional<uint32_t>& expected_crc32c) {
  if (expected_md5 && *expected_md5 != hashes.md5) {
    return errors::Md5Mismatch(Base64(*expected_md5), Base64(hashes.md5));
  }
  if (expected_crc32c && *expected_crc32c != hashes.crc32c) {
    return errors::Crc32cMismatch(Crc32cText(*expected_crc32c), Crc32cText(hashes.crc32c));
  }
  return Ok{};
}

}  // namespace

DirectoryWriter::DirectoryWriter(DirectoryStore& store, std::string bucket, std::string name,
                                 int directory, std::string file, bool kept, Fd fd)
    : store_(store),
      bucket_(std::move(bucket)),
      name_(std::move(name)),
      directory_(directory),
      file_(std::move(file)),
      kept_(kept),
      fd_(std::move(fd)) {}

Result<std::unique_ptr<ObjectWriter>> DirectoryWriter::Start(DirectoryStore& store,
                                                             std::string bucket, std::string name) {
  const int directory = store.directories_.temporary.get();
  ASSIGN_OR_RETURN(TemporaryFiles::File file, store.MakeTemporaryFile(name));
  return std::unique_ptr<ObjectWriter>(
      new DirectoryWriter(store, std::move(bucket), std::move(name), directory,
                          std::move(file.name), false, std::move(file.fd)));
}

Result<std::unique_ptr<ObjectWriter>> DirectoryWriter::Resume(DirectoryStore& store,
                                                              std::string bucket, std::string name,
                                                              std::string key) {
  const int directory = store.directories_.uploads.get();
  Fd fd(::openat(directory, key.c_str(), kWriteFlags | O_APPEND | O_NOFOLLOW, 0666));
  struct stat status {};
  if (!fd.valid() || ::fstat(fd.get(), &status) != 0) {
    return errors::CannotContinueObject(name, errno);
  }
  std::unique_ptr<DirectoryWriter> writer(new DirectoryWriter(
      store, std::move(bucket), std::move(name), directory, std::move(key), true, std::move(fd)));
  writer->size_ = static_cast<uint64_t>(status.st_size);
  if (writer->size_ > 0) writer->sums_ = Sums::kUnknown;
  return std::unique_ptr<ObjectWriter>(std::move(writer));
}

DirectoryWriter::~DirectoryWriter() {
  if (!file_.empty() && !kept_) ::unlinkat(directory_, file_.c_str(), 0);
}

Status DirectoryWriter::Append(std::string_view bytes) {
  if (sums_ == Sums::kCombined) sums_ = Sums::kUnknown;
  const bool passing = sums_ == Sums::kPassing;
  if (passing && !follower_ && size_ >= kLargeBytes) {
    follower_ = FollowingHasher::Start(fd_.get(), hasher_, size_);
  }
  if (passing && !follower_) hasher_.Add(bytes);
  RETURN_IF_ERROR(Write(bytes));
  if (passing && follower_) follower_->ReportSize(size_);
  if (store_.options_.durable && size_ - flushing_ >= kLargeBytes) StartFlushing();
  return Ok{};
}

Status DirectoryWriter::Write(std::string_view bytes) {
  KeepSmall(bytes);
  while (!bytes.empty()) {
    // CopyRange does not advance the descriptor's own position.
    const ssize_t count =
        ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(size_));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errors::CannotWriteObject(name_, errno);
    bytes.remove_prefix(static_cast<size_t>(count));
    size_ += static_cast<size_t>(count);
  }
  return Ok{};
}

// Keeps the bytes of a small object for its commit. A longer one needs none of them.
void DirectoryWriter::KeepSmall(std::string_view bytes) {
  if (!store_.options_.durable || small_.size() != size_) return;
  if (size_ + bytes.size() <= kSmallObjectBytes) {
    small_ += bytes;
  } else {
    small_ = {};
  }
}

// Starts writing to disk while more bytes arrive, so that the final sync has less to do.
void DirectoryWriter::StartFlushing() {
  ::sync_file_range(fd_.get(), static_cast<off_t>(flushing_), static_cast<off_t>(size_ - flushing_),
                    SYNC_FILE_RANGE_WRITE);  // only a hint: the final sync reports failures
  flushing_ = size_;
}

Status DirectoryWriter::AppendFrom(ObjectReader& source, uint64_t offset, uint64_t length) {
  const ObjectInfo& info = source.info();
  const bool whole = offset == 0 && length == info.size;
  const bool is_kept =
      whole && source.bytes() != nullptr && (size_ == 0 || sums_ == Sums::kCombined);
  if (source.descriptor() < 0 && !is_kept) {
    return ObjectWriter::AppendFrom(source, offset, length);
  }
  if (whole && size_ == 0 && sums_ == Sums::kPassing) {
    sums_ = Sums::kCombined;
    combined_ = {info.md5, info.crc32c};
  } else if (whole && sums_ == Sums::kCombined) {
    combined_ = {"", CombinedCrc32c(combined_.crc32c, info.crc32c, info.size)};
  } else if (length > 0) {
    sums_ = Sums::kUnknown;
  }
  return is_kept ? Write(*source.bytes()) : CopyRange(source.descriptor(), offset, length);
}

Status DirectoryWriter::CopyRange(int source, uint64_t offset, uint64_t length) {
  std::vector<char> piece;  // used if the kernel cannot copy the range
  while (length > 0) {
    if (IsWorkAbandoned()) return errors::ClientGone();
    auto from = static_cast<off_t>(offset);
    const uint64_t most = std::min(length, kCopiedBytesMax);
    ssize_t count = -1;
    if (piece.empty()) {
      auto to = static_cast<off_t>(size_);
      count = kept_ ? -1 : ::copy_file_range(source, &from, fd_.get(), &to, most, 0);
      if (count < 0) piece.resize(std::min<uint64_t>(length, 1 << 20));
    }
    if (count < 0) {
      count = ::pread(source, piece.data(), std::min<uint64_t>(length, piece.size()), from);
      if (count > 0)
        count = ::pwrite(fd_.get(), piece.data(), static_cast<size_t>(count),
                         static_cast<off_t>(size_));
    }
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errors::CannotWriteObject(name_, errno);
    if (count == 0)
      return errors::ObjectNotFound(bucket_, name_);  // the source was truncated by hand
    offset += static_cast<uint64_t>(count);
    length -= static_cast<uint64_t>(count);
    size_ += static_cast<uint64_t>(count);
  }
  return Ok{};
}

Status DirectoryWriter::Persist() {
  if (!store_.options_.durable || persisted_ == size_) return Ok{};
  if (::fdatasync(fd_.get()) != 0) return errors::CannotSyncObject(name_, errno);
  RETURN_IF_ERROR(store_.NoteReceived(file_, size_));
  persisted_ = size_;
  return Ok{};
}

Result<Hashes> DirectoryWriter::Finish(bool composite) {
  if (sums_ == Sums::kPassing) return follower_ ? follower_->Finish() : hasher_.Finish();
  const bool enough = sums_ == Sums::kCombined && (composite || !combined_.md5.empty());
  if (enough) return combined_;
  return HashFile(fd_.get(), false);  // a resumed upload loses its bytes if this fails
}

Result<ObjectInfo> DirectoryWriter::Commit(ObjectInfo info, const Preconditions& preconditions,
                                           const std::optional<std::string>& expected_md5,
                                           const std::optional<uint32_t>& expected_crc32c) {
  const bool small = store_.options_.durable && !kept_ && size_ <= kSmallObjectBytes &&
                     !store_.file_sync_->IsBehind();
  // Syncs first, while the follower hashes the remaining bytes.
  if (store_.options_.durable && !small && ::fsync(fd_.get()) != 0) {
    return errors::CannotSyncObject(name_, errno);
  }
  const bool composite = info.component_count > 0;
  ASSIGN_OR_RETURN(const Hashes hashes, Finish(composite && !expected_md5));
  RETURN_IF_ERROR(CheckSums(hashes, expected_md5, expected_crc32c));
  info.bucket = bucket_;
  info.name = name_;
  info.size = size_;
  info.md5 = composite ? "" : hashes.md5;
  info.crc32c = hashes.crc32c;
  if (small) return CommitSmall(std::move(info), preconditions);
  auto committed = store_.Commit(directory_, file_, std::move(info), preconditions);
  if (committed.ok()) file_.clear();
  return committed;
}

Result<ObjectInfo> DirectoryWriter::CommitSmall(ObjectInfo info,
                                                const Preconditions& preconditions) {
  std::string bytes = std::move(small_);
  struct stat status {};
  size_t at = bytes.size();
  for (bytes.resize(size_); at < bytes.size();) {
    const ssize_t count =
        ::pread(fd_.get(), bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return errors::CannotReadObject(name_, count < 0 ? errno : EIO);
    at += static_cast<size_t>(count);
  }
  if (::fstat(fd_.get(), &status) != 0) return errors::CannotLookAtObject(name_, errno);
  return store_.CommitSmall(file_, IdentityOf(status), std::move(info), preconditions,
                            std::move(bytes));
}

}  // namespace caip::gcs
