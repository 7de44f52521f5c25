#pragma once
// An upload's plan: what the service knows before the bytes arrive.

#include <cstdint>
#include <optional>
#include <string>

#include "fakes/gcs/store/bucket_store.h"

namespace caip::gcs {

/// Checksums that a client announces.
struct ExpectedSums {
  std::optional<std::string> md5;  // 16 raw bytes
  std::optional<uint32_t> crc32c;
};

/// An upload's destination and conditions. `info` has bucket, name and the client's fields.
struct UploadPlan {
  ObjectInfo info = {};
  Preconditions preconditions = {};
  ExpectedSums sums = {};
  std::optional<uint64_t> length = {};  // announced for a resumable upload
};

/// `Content-Range` of an upload: "bytes 0-99/100", "bytes 0-99/*", "bytes 0-*/*" (open end),
/// "bytes */100" and "bytes */*" (a question).
struct ContentRange {
  std::optional<uint64_t> first;  // nullopt: no data, a question
  std::optional<uint64_t> last;   // nullopt with `first`: up to the end of the body
  std::optional<uint64_t> total;
};

/// A piece of a resumable upload. A `range` of nullopt means the whole object.
struct UploadPiece {
  std::string id = {};
  std::optional<ContentRange> range = {};
  ExpectedSums sums = {};
};

}  // namespace caip::gcs
