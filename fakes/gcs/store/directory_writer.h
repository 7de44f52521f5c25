#pragma once
// An object being written: a temporary file that becomes the object when it is complete.

#include <memory>
#include <optional>
#include <string>

#include "fakes/gcs/store/bucket_store.h"
#include "fakes/gcs/store/checksums.h"

namespace caip::gcs {

class DirectoryStore;

/// Writes bytes to a temporary file and computes checksums in one pass. The kernel copies the bytes
/// of other objects, whose checksums are combined. One thread at a time.
class DirectoryWriter final : public ObjectWriter {
 public:
  static Result<std::unique_ptr<ObjectWriter>> Start(DirectoryStore& store, std::string bucket,
                                                     std::string name);
  /// Continues the upload `key`. Its file is kept when the writer is destroyed.
  static Result<std::unique_ptr<ObjectWriter>> Resume(DirectoryStore& store, std::string bucket,
                                                      std::string name, std::string key);

  ~DirectoryWriter() override;
  Status Append(std::string_view bytes) override;
  Status AppendFrom(ObjectReader& source, uint64_t offset, uint64_t length) override;
  uint64_t size() const override { return size_; }
  Status Persist() override;
  Result<ObjectInfo> Commit(ObjectInfo info, const Preconditions& preconditions,
                            const std::optional<std::string>& expected_md5,
                            const std::optional<uint32_t>& expected_crc32c) override;

 private:
  // How the checksums are computed. kPassing: from the bytes as they are written. kCombined: from
  // the checksums of the objects that were copied. kUnknown: by reading the file again at the end.
  enum class Sums { kPassing, kCombined, kUnknown };

  DirectoryWriter(DirectoryStore& store, std::string bucket, std::string name, int directory,
                  std::string file, bool kept, Fd fd);
  Status CopyRange(int source, uint64_t offset, uint64_t length);
  Status Write(std::string_view bytes);
  void KeepSmall(std::string_view bytes);
  void StartFlushing();
  Result<Hashes> Finish(bool composite);
  Result<ObjectInfo> CommitSmall(ObjectInfo info, const Preconditions& preconditions);

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
  std::string small_;                          // the first bytes, while they are all
  std::optional<uint64_t> persisted_;          // bytes that survive a power failure
  uint64_t flushing_ = 0;                      // bytes that the kernel was asked to write to disk
  std::unique_ptr<FollowingHasher> follower_;  // of a large object, instead of hasher_
};

}  // namespace caip::gcs
