#pragma once
// An object on its way in: a nameless-to-all file that becomes the object when it is whole.

#include <memory>
#include <optional>
#include <string>

#include "fakes/gcs/store/bucket_store.h"
#include "fakes/gcs/store/checksums.h"
#include "fakes/gcs/store/following_hasher.h"

namespace caip::gcs {

class DirectoryStore;

/// Bytes go to a temporary file and through the sums in one pass; those of other objects are copied
/// by the kernel, and their sums put together. One thread at a time.
class DirectoryWriter final : public ObjectWriter {
 public:
  static Result<std::unique_ptr<ObjectWriter>> Start(DirectoryStore& store, std::string bucket,
                                                     std::string name);
  /// The file of that name among the uploads, and it stays when this goes.
  static Result<std::unique_ptr<ObjectWriter>> Resume(DirectoryStore& store, std::string bucket,
                                                      std::string name, std::string key);
  static std::string NewTemporaryName();

  ~DirectoryWriter() override;
  Status Append(std::string_view bytes) override;
  Status AppendFrom(ObjectReader& source, uint64_t offset, uint64_t length) override;
  uint64_t size() const override { return size_; }
  Status Persist() override;
  Result<ObjectInfo> Commit(ObjectInfo info, const Preconditions& preconditions,
                            const std::optional<std::string>& expected_md5,
                            const std::optional<uint32_t>& expected_crc32c) override;

 private:
  // How the sums are known: all bytes passed by, or all came from objects that have sums. Else the
  // file is read once more at the end.
  enum class Sums { kPassing, kCombined, kUnknown };

  DirectoryWriter(DirectoryStore& store, std::string bucket, std::string name, int directory,
                  std::string file, bool kept, Fd fd);
  Status CopyRange(int source, uint64_t offset, uint64_t length);
  Status Write(std::string_view bytes);
  void StartFlushing();
  Result<Hashes> Finish(bool composite);

  DirectoryStore& store_;
  std::string bucket_;
  std::string name_;
  int directory_;
  std::string file_;  // its name in the directory
  bool kept_;
  Fd fd_;
  Sums sums_ = Sums::kPassing;
  Hasher hasher_;
  Hashes combined_;  // md5 is "" unless there was a single piece
  uint64_t size_ = 0;
  uint64_t flushing_ = 0;  // so many bytes are at least on their way to the disk
  std::unique_ptr<FollowingHasher> follower_;  // of a large object, in hasher_'s stead
};

}  // namespace caip::gcs
