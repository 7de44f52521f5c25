#pragma once
// Buckets and objects, as Cloud Storage means them: the port between its HTTP faces and the bytes.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/result.h"

namespace caip::gcs {

struct Bucket {
  std::string name;
  std::string location = "US-CENTRAL1";
  std::string storage_class = "STANDARD";
  Instant time_created;
  Instant updated;
  int64_t metageneration = 1;
  std::map<std::string, std::string> labels = {};
};

/// What is known of an object beside its bytes.
struct ObjectInfo {
  std::string bucket;
  std::string name;
  int64_t generation = 0;
  int64_t metageneration = 1;
  uint64_t size = 0;
  std::string content_type;
  std::string content_encoding;
  std::string cache_control;
  std::string md5;  // 16 raw bytes; empty for composite objects
  uint32_t crc32c = 0;
  Instant time_created;
  Instant updated;
  std::map<std::string, std::string> metadata;
  std::string content_disposition = {};
  std::string content_language = {};
  std::string custom_time = {};  // RFC 3339, as given
  std::string storage_class = "STANDARD";
  int component_count = 0;  // of a composite object, else 0
};

/// All that are set must hold, else kFailedPrecondition and nothing changes (HTTP 412).
struct Preconditions {
  std::optional<int64_t> if_generation_match = {};  // 0: must not exist
  std::optional<int64_t> if_generation_not_match = {};
  std::optional<int64_t> if_metageneration_match = {};
  std::optional<int64_t> if_metageneration_not_match = {};
};

struct ListQuery {
  std::string prefix = {};
  std::string delimiter = {};
  std::string start_offset = {};  // first name, inclusive
  std::string end_offset = {};    // first name not to be listed
  bool include_trailing_delimiter = false;
  int max_results = 1000;
  std::string page_token = {};
  bool with_hashes = true;  // false: md5 and crc32c may be missing, and no file is read for them
};

struct Listing {
  std::vector<ObjectInfo> items;
  std::vector<std::string> prefixes;
  std::string next_page_token;  // "" on the last page
};

/// An object being written. Visible to nobody before Commit; dropped without a trace without it.
class ObjectWriter {
 public:
  virtual ~ObjectWriter() = default;
  virtual Status Append(std::string_view bytes) = 0;
  /// Durable and visible when it returns. `expected_md5` / `expected_crc32c`: kInvalidArgument when
  /// the bytes differ. The new generation is larger than any before. `info` gives what a client may
  /// choose; with a component_count the object is composite and has no md5.
  virtual Result<ObjectInfo> Commit(ObjectInfo info, const Preconditions& preconditions,
                                    const std::optional<std::string>& expected_md5,
                                    const std::optional<uint32_t>& expected_crc32c) = 0;
};

/// The bytes of one generation, still readable when it is overwritten meanwhile.
class ObjectReader {
 public:
  virtual ~ObjectReader() = default;
  virtual const ObjectInfo& info() const = 0;
  /// Up to `size` bytes from `offset`; 0 at the end.
  virtual Result<size_t> ReadAt(uint64_t offset, char* buffer, size_t size) = 0;
};

/// Any thread. kNotFound names bucket or object; kAlreadyExists for a bucket made twice;
/// kInvalidArgument for a name against the rules; kFailedPrecondition for preconditions and for the
/// deletion of a bucket that is not empty; kResourceExhausted when the disk is full.
class BucketStore {
 public:
  virtual ~BucketStore() = default;
  virtual Result<Bucket> CreateBucket(const std::string& name) = 0;
  virtual Result<Bucket> GetBucket(const std::string& name) const = 0;
  virtual std::vector<Bucket> ListBuckets() const = 0;
  virtual Status DeleteBucket(const std::string& name) = 0;
  /// Replaces location, storage class and labels; metageneration + 1.
  virtual Result<Bucket> UpdateBucket(const Bucket& bucket) = 0;

  virtual Result<std::unique_ptr<ObjectWriter>> NewObject(const std::string& bucket,
                                                          const std::string& name) = 0;
  virtual Result<ObjectInfo> GetObject(const std::string& bucket,
                                       const std::string& name) const = 0;
  virtual Result<std::unique_ptr<ObjectReader>> OpenObject(const std::string& bucket,
                                                           const std::string& name) const = 0;
  virtual Result<Listing> List(const std::string& bucket, const ListQuery& query) const = 0;
  virtual Status DeleteObject(const std::string& bucket, const std::string& name,
                              const Preconditions& preconditions) = 0;
  /// Replaces what a client may choose (content type, metadata and so on); metageneration + 1.
  /// kNotFound when info.generation is set and is not the live one.
  virtual Result<ObjectInfo> UpdateObject(const ObjectInfo& info,
                                          const Preconditions& preconditions) = 0;
};

}  // namespace caip::gcs
