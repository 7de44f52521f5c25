#pragma once
// The least and the most bytes that an upload may have.

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "http/message.h"

namespace caip::gcs {

struct UploadBounds {
  uint64_t least = 0;
  std::optional<uint64_t> most = {};
};

/// Reads x-goog-content-length-range: MIN,MAX. Without this header, any size is allowed.
/// https://cloud.google.com/storage/docs/xml-api/reference-headers#xgoogcontentlengthrange
Result<UploadBounds> ReadLengthRange(const http::Request& request);

/// Fails with EntityTooLarge or EntityTooSmall as soon as the bytes of `source` break the bounds.
/// One thread. `source` must outlive it.
class BoundedBody final : public http::BodyReader {
 public:
  BoundedBody(http::BodyReader& source, const UploadBounds& bounds)
      : source_(source), bounds_(bounds) {}
  Result<size_t> Read(char* buffer, size_t size) override;

 private:
  http::BodyReader& source_;
  UploadBounds bounds_;
  uint64_t total_ = 0;
};

}  // namespace caip::gcs
