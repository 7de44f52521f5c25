#pragma once
// Blobs by their digests: layers, configurations and manifests of images.
//
//   <directory>/blobs/sha256/<hex>   a whole blob, read-only, with exactly the bytes of its digest
//   <directory>/uploads/<id>         the bytes of an upload so far
//
// A blob appears only when its bytes are on the disk. An upload survives a kill -9: its file has
// all bytes that Append accepted, and Resume computes their hash again.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/hash.h"
#include "base/result.h"
#include "images/digest.h"

namespace caip::images {

class BlobStore;

/// What tells a file from an earlier or later one of the same name, also after a write.
struct FileState {
  uint64_t device = 0;
  uint64_t inode = 0;
  int64_t size = 0;
  int64_t changed_seconds = 0;
  int64_t changed_nanoseconds = 0;

  bool operator==(const FileState&) const = default;
};

/// The only writer of one upload. The destructor keeps the upload, and its store resumes it later.
/// One thread. It must be destroyed before its store.
class BlobUpload {
 public:
  BlobUpload(BlobUpload&& other) noexcept;
  BlobUpload& operator=(BlobUpload&& other) noexcept;
  ~BlobUpload();

  const std::string& id() const { return id_; }
  /// The number of bytes that the upload has.
  uint64_t offset() const { return offset_; }
  /// Whether the upload was finished or cancelled. Then only the destructor may be called.
  bool is_over() const { return store_ == nullptr; }
  /// Adds all of `bytes`, or none of them if it fails.
  Status Append(std::string_view bytes);
  /// The digest of the bytes so far.
  Result<Digest> DigestSoFar();
  /// Does the slow part of Finish, so that a caller can hold a lock only for the rest: hashes the
  /// upload, compares a blob of that digest in the store, and syncs. Finish reports a digest that
  /// differs. Append undoes it. The upload is unchanged after an error.
  Status Prepare(const Digest& expected);
  /// Makes the upload a blob that survives a power cut. A blob of that digest in the store stays,
  /// unless its bytes are damaged: then the upload replaces it. kDataLoss, with the reason
  /// "digestMismatch", if the bytes of the upload have another digest; then the upload is deleted.
  /// After any other error the upload is unchanged.
  Status Finish(const Digest& expected);
  /// Like Finish, for bytes whose digest is not known before.
  Result<Digest> FinishAny();
  /// Deletes the upload.
  void Cancel();

 private:
  friend class BlobStore;
  BlobUpload(BlobStore* store, std::string id, Fd file) noexcept;
  Status HashFile();
  Status Commit(const Digest& digest);
  Status MoveTo(const Path& path);
  void Suspend();

  BlobStore* store_;  // nullptr when the upload is over
  std::string id_;
  Fd file_;
  std::unique_ptr<Sha256Digest> hash_;  // of the first `offset_` bytes
  uint64_t offset_ = 0;
  bool is_prepared_ = false;
  std::optional<FileState> intact_;  // the blob that Prepare found in the store
};

/// A blob of the store.
struct BlobInfo {
  Digest digest;
  uint64_t size = 0;
};

/// A store on one directory. Any thread, and several processes on one directory.
class BlobStore {
 public:
  /// It remembers the checks of at least so many blobs, those used last, and of twice as many at
  /// most. After that, a blob counts as not read.
  static constexpr size_t kCheckedBlobs = 500;

  /// Makes the directories if they are missing.
  static Result<std::unique_ptr<BlobStore>> Open(Path directory);
  BlobStore(const BlobStore&) = delete;
  BlobStore& operator=(const BlobStore&) = delete;

  bool Has(const Digest& digest) const;
  /// Whether the store has the blob with exactly the bytes of its digest. Reads the whole blob.
  /// With `size`, a blob of another size is not read.
  bool IsIntact(const Digest& digest, std::optional<uint64_t> size = {}) const;
  /// Like IsIntact, but does not read a blob that this object has checked or stored and whose file
  /// has not changed since.
  bool IsKnownIntact(const Digest& digest) const;
  /// Whether this object has read the blob and found it damaged, and its file has not changed
  /// since. Reads no blob.
  bool IsKnownDamaged(const Digest& digest) const;
  // These return kNotFound, with the reason "blobUnknown", for a missing blob.
  Result<uint64_t> Size(const Digest& digest) const;
  /// A descriptor for reading, at the first byte.
  Result<Fd> OpenBlob(const Digest& digest) const;
  /// The whole blob. kOutOfRange if it has more than `limit` bytes; kDataLoss, with the reason
  /// "digestMismatch", if its bytes are damaged.
  Result<std::string> Read(const Digest& digest, size_t limit) const;
  Status Remove(const Digest& digest);

  /// All blobs, by digest.
  Result<std::vector<BlobInfo>> List() const;
  /// Stores a small blob, such as a manifest, in one step. Replaces a damaged one.
  Result<Digest> Put(std::string_view bytes);

  /// Starts an upload. An id has 1 to 128 letters, digits, '-' and '_'; any other is
  /// kInvalidArgument with the reason "uploadIdInvalid". Those that begin with "caip-" are for
  /// BeginOwn. kAlreadyExists if there is one.
  Result<BlobUpload> Begin(const std::string& id);
  /// Starts an upload of this process, with an id that begins with "caip-".
  Result<BlobUpload> BeginOwn();
  /// Deletes the uploads of BeginOwn that have no writer: those of killed processes.
  void RemoveOwnUploads();
  /// Continues an upload. kNotFound, with the reason "uploadUnknown", if there is none; kAborted,
  /// with the reason "uploadBusy", while another writer has it.
  Result<BlobUpload> Resume(const std::string& id);
  /// The bytes of an upload so far. Writers do not disturb it.
  Result<uint64_t> Offset(const std::string& id) const;
  /// The ids of all uploads that are neither finished nor cancelled, sorted.
  std::vector<std::string> Uploads() const;

 private:
  friend class BlobUpload;
  struct Suspended {
    std::unique_ptr<Sha256Digest> hash;
    uint64_t offset = 0;
  };
  /// A blob as it was read or stored.
  struct Checked {
    FileState state;
    bool is_intact = false;
  };

  explicit BlobStore(Path directory);
  Path PathOf(const Digest& digest) const { return blobs_ / digest.hex(); }
  Path UploadPath(const std::string& id) const { return uploads_ / id; }
  std::optional<FileState> StateOf(const Digest& digest) const;
  std::optional<FileState> FindIntact(const Digest& digest, std::optional<uint64_t> size) const;
  std::optional<bool> FindChecked(const Digest& digest) const;
  void Note(const Digest& digest, const Checked& checked) const;
  void Remember(const Digest& digest, const Checked& checked) const;

  Path blobs_;
  Path uploads_;
  mutable std::mutex mutex_;
  std::map<std::string, Suspended> suspended_;  // uploads of this process without a writer
  mutable std::map<Digest, Checked> checked_;
  mutable std::map<Digest, Checked> checked_earlier_;  // what checked_ held when it was full
};

}  // namespace caip::images
