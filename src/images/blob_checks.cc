// Comparing the bytes of blobs and uploads with their digests.

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "images/blob_store.h"

namespace caip::images {
namespace {

constexpr size_t kHashBlock = 256 << 10;

// Adds all bytes of the open file to the hash. Returns their number; on nothing, errno has the
// reason.
std::optional<uint64_t> HashAllOf(int file, Sha256Digest& hash) {
  std::string block(kHashBlock, '\0');
  for (off_t offset = 0;;) {
    const ssize_t count = ::pread(file, block.data(), block.size(), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) return static_cast<uint64_t>(offset);
    hash.Add(std::string_view(block.data(), static_cast<size_t>(count)));
    offset += count;
  }
}

FileState StateFrom(const struct stat& status) {
  return {status.st_dev, status.st_ino, status.st_size, status.st_ctim.tv_sec,
          status.st_ctim.tv_nsec};
}

}  // namespace

Status BlobUpload::HashFile() {
  auto hash = std::make_unique<Sha256Digest>();
  const auto bytes = HashAllOf(file_.get(), *hash);
  if (!bytes) return CannotRead(store_->UploadPath(id_), errno);
  hash_ = std::move(hash);
  offset_ = *bytes;
  return Ok{};
}

bool BlobStore::IsIntact(const Digest& digest, std::optional<uint64_t> size) const {
  return FindIntact(digest, size).has_value();
}

bool BlobStore::IsKnownIntact(const Digest& digest) const {
  const auto known = FindChecked(digest);
  return known ? *known : IsIntact(digest);
}

bool BlobStore::IsKnownDamaged(const Digest& digest) const {
  return !FindChecked(digest).value_or(true);
}

// Nothing if the blob is missing, damaged, of another size, or changed meanwhile. A file that the
// disk cannot read is damaged. One that this process cannot open may be intact.
std::optional<FileState> BlobStore::FindIntact(const Digest& digest,
                                               std::optional<uint64_t> size) const {
  const auto stored = Size(digest);
  if (!stored.ok() || (size && *stored != *size)) return std::nullopt;
  const auto state = StateOf(digest);
  const auto file = OpenBlob(digest);
  if (!state || !file.ok()) return std::nullopt;
  Sha256Digest hash;
  const bool is_intact = HashAllOf(file->get(), hash) && hash.FinishHex() == digest.hex();
  if (StateOf(digest) != state) return std::nullopt;
  Note(digest, {*state, is_intact});
  return is_intact ? state : std::nullopt;
}

// Whether the blob was intact, if its file has not changed since.
std::optional<bool> BlobStore::FindChecked(const Digest& digest) const {
  const auto state = StateOf(digest);
  const std::lock_guard lock(mutex_);
  for (const auto* checks : {&checked_, &checked_earlier_}) {
    const auto known = checks->find(digest);
    if (known == checks->end()) continue;
    if (state != known->second.state) return std::nullopt;
    const Checked found = known->second;
    Remember(digest, found);
    return found.is_intact;
  }
  return std::nullopt;
}

std::optional<FileState> BlobStore::StateOf(const Digest& digest) const {
  struct stat status {};
  if (::stat(PathOf(digest).c_str(), &status) != 0) return std::nullopt;
  return StateFrom(status);
}

void BlobStore::Note(const Digest& digest, const Checked& checked) const {
  const std::lock_guard lock(mutex_);
  Remember(digest, checked);
}

// The caller holds the mutex.
void BlobStore::Remember(const Digest& digest, const Checked& checked) const {
  if (checked_.size() >= kCheckedBlobs && !checked_.contains(digest)) {
    checked_earlier_ = std::exchange(checked_, {});
  }
  checked_.insert_or_assign(digest, checked);
}

}  // namespace caip::images
