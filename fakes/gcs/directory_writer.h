#pragma once
// An object on its way in: a nameless-to-all file that becomes the object when it is whole.

#include <memory>
#include <string>

#include "fakes/gcs/bucket_store.h"
#include "fakes/gcs/checksums.h"

namespace caip::gcs {

class DirectoryStore;

/// Bytes go to a temporary file and through the sums in one pass. One thread at a time.
class DirectoryWriter final : public ObjectWriter {
 public:
  static Result<std::unique_ptr<ObjectWriter>> Start(DirectoryStore& store, std::string bucket,
                                                     std::string name);
  ~DirectoryWriter() override;
  Status Append(std::string_view bytes) override;
  Result<ObjectInfo> Commit(ObjectInfo info, const Preconditions& preconditions,
                            const std::optional<std::string>& expected_md5,
                            const std::optional<uint32_t>& expected_crc32c) override;

 private:
  DirectoryWriter(DirectoryStore& store, std::string bucket, std::string name,
                  std::string temporary, Fd fd);

  DirectoryStore& store_;
  std::string bucket_;
  std::string name_;
  std::string temporary_;  // the file's name among the store's temporary ones
  Fd fd_;
  Hasher hasher_;
  uint64_t size_ = 0;
};

}  // namespace caip::gcs
