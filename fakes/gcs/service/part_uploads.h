#pragma once
// Multipart uploads that have begun. Their plans and parts are files, so they survive a restart.

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/json.h"
#include "base/random.h"
#include "http/message.h"

namespace caip::gcs {

inline constexpr int kPartNumberMax = 10'000;
inline constexpr uint64_t kPartBytesMin = 5 << 20;  // of every part but the last

/// An upload as its first request described it. `metadata` is an object resource, `query` has its
/// conditions and access list.
struct PartUpload {
  std::string id;
  std::string bucket;
  std::string object;
  Json metadata;
  Json query;
  Instant begun;
};

struct UploadedPart {
  int number = 0;
  uint64_t size = 0;
  std::string md5 = {};  // hex
  uint32_t crc32c = 0;   // set only for a part just received
  Instant modified = {};
};

/// Stores <directory>/<id>/upload.json and part files, whose names hold number and MD5. Any thread.
class PartUploads {
 public:
  /// Removes what an earlier process left of uploads that do not exist.
  PartUploads(Path directory, const Clock& clock, Random random);
  PartUploads(PartUploads&&) noexcept;
  ~PartUploads();

  /// 32 hexadecimal digits that are not in use.
  std::string NewId();
  /// The same seed repeats the ids of an earlier process: `was_used` knows those that have ended.
  Result<PartUpload> Begin(PartUpload plan,
                           const std::function<Result<bool>(const std::string& id)>& was_used);
  /// kNotFound also for a malformed id and for an upload of another object.
  Result<PartUpload> Find(const std::string& id, const std::string& bucket,
                          const std::string& object) const;
  Result<std::vector<PartUpload>> List(const std::string& bucket) const;
  /// Reads the body to its end. A part of the same number is replaced. `expected_md5`: raw, or "".
  Result<UploadedPart> Put(const PartUpload& upload, int number, http::BodyReader& body,
                           const std::string& expected_md5);
  /// By number, and the older first. A kill while a part was replaced leaves both.
  Result<std::vector<UploadedPart>> Parts(const PartUpload& upload) const;
  /// Reads the bytes of these parts in this order.
  std::unique_ptr<http::BodyReader> Read(const PartUpload& upload,
                                         std::vector<UploadedPart> parts) const;
  /// Durable when it returns. The upload is unchanged if its plan cannot be removed.
  Status Forget(const PartUpload& upload);

 private:
  void RemoveRemains() const;

  Path directory_;
  const Clock* clock_;
  std::unique_ptr<std::mutex> mutex_;  // guards random_ and renames
  Random random_;
};

}  // namespace caip::gcs
