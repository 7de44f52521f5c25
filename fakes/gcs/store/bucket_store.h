#pragma once
// Buckets and objects of Cloud Storage, and the port through which the service stores them.

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
  int64_t revision = 0;  // grows with every change, also with one that the disk refuses
  std::map<std::string, std::string> labels = {};
  std::string project = {};   // ?project= of the request that created it; "": made by hand
  std::string settings = {};  // JSON object: all other fields that a client may set; "" none
  std::string policies = {};  // JSON object: ACLs, IAM policy, notifications, folders; "" none
  std::string project_number = {};  // set by the service, not stored
};

/// An object's metadata.
struct ObjectInfo {
  std::string bucket;
  std::string name;
  int64_t generation = 0;
  int64_t metageneration = 1;
  int64_t revision = 0;  // as a bucket's; clients do not see it
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
  std::string custom_time = {};    // RFC 3339 in UTC
  std::string storage_class = {};  // "" before the commit: the bucket's default
  int component_count = 0;         // of a composite object, else 0
  std::string kms_key_name = {};
  std::string customer_key_sha256 = {};  // base64; of the key that a client must send
  bool temporary_hold = false;
  bool event_based_hold = false;
  bool shows_temporary_hold = false;         // it was set once, perhaps to false
  bool shows_event_based_hold = false;       // the same
  std::string retention = {};                // JSON object: mode and retainUntilTime; "" none
  std::string contexts = {};                 // JSON object; "" none
  std::string acl = {};                      // JSON array; "": the bucket's default
  Instant retained_since = {};               // when an event-based hold ended; epoch: time_created
  std::optional<Instant> time_deleted = {};  // of a noncurrent or soft-deleted version
  std::optional<Instant> soft_delete_time = {};  // of a soft-deleted version
  std::optional<Instant> hard_delete_time = {};  // when its bytes are deleted
};

/// Names an object.
struct ObjectName {
  std::string bucket;
  std::string name = {};
};

/// Names a version of an object: by default the live one.
struct Version {
  int64_t generation = 0;
  bool soft_deleted = false;  // selects a soft-deleted version
  bool unsaved = false;       // with metadata that the disk may still refuse, for UpdateObject
};

/// Conditions of a request. Unless all that are set hold, the error is kFailedPrecondition (HTTP
/// 412) and nothing changes.
struct Preconditions {
  std::optional<int64_t> if_generation_match = {};  // 0: must not exist
  std::optional<int64_t> if_generation_not_match = {};
  std::optional<int64_t> if_metageneration_match = {};
  std::optional<int64_t> if_metageneration_not_match = {};
};

struct ListQuery {
  std::string prefix = {};
  std::string delimiter = {};
  std::string start_offset = {};  // inclusive
  std::string end_offset = {};    // exclusive
  bool include_trailing_delimiter = false;
  int max_results = 1000;
  std::string page_token = {};
  std::string match_glob = {};            // lists only matching names; see glob.h
  std::vector<std::string> folders = {};  // sorted, each with its "/": prefixes without objects
  bool versions = false;                  // also lists noncurrent versions
  bool soft_deleted = false;              // lists only versions that may be restored
  bool with_hashes = true;  // false: md5 and crc32c may be missing, and no file is read for them
};

struct Listing {
  std::vector<ObjectInfo> items;
  std::vector<std::string> prefixes;
  std::string next_page_token;  // "" on the last page
};

/// The bytes of one generation. They stay readable when the object is overwritten.
class ObjectReader {
 public:
  virtual ~ObjectReader() = default;
  virtual const ObjectInfo& info() const = 0;
  /// Up to `size` bytes from `offset`; 0 at the end.
  virtual Result<size_t> ReadAt(uint64_t offset, char* buffer, size_t size) = 0;
  /// The plain file that holds exactly the bytes, or -1.
  virtual int descriptor() const { return -1; }
  /// All bytes if they are in memory, else nullptr.
  virtual const std::string* bytes() const { return nullptr; }
};

/// An object being written. Commit makes it visible. Without Commit, it is discarded.
class ObjectWriter {
 public:
  virtual ~ObjectWriter() = default;
  virtual Status Append(std::string_view bytes) = 0;
  /// Copies from another object, if possible without reading the bytes.
  virtual Status AppendFrom(ObjectReader& source, uint64_t offset, uint64_t length);
  /// The number of bytes so far.
  virtual uint64_t size() const = 0;
  /// Makes the bytes so far survive a power failure; only for a writer of ResumeObject.
  virtual Status Persist() { return Ok{}; }
  /// The object is durable and visible when this returns. `expected_md5`, `expected_crc32c`:
  /// kInvalidArgument if the checksums of the bytes differ. The new generation is larger than any
  /// earlier one. `info` has the fields that a client may set. With a component_count, the object
  /// is composite and has no md5.
  virtual Result<ObjectInfo> Commit(ObjectInfo info, const Preconditions& preconditions,
                                    const std::optional<std::string>& expected_md5,
                                    const std::optional<uint32_t>& expected_crc32c) = 0;
};

/// Stores buckets and objects. Any thread. kNotFound names the bucket or object; kAlreadyExists for
/// a bucket made twice; kInvalidArgument for an invalid name; kFailedPrecondition for preconditions
/// and for the deletion of a bucket that is not empty; kResourceExhausted when the disk is full.
class BucketStore {
 public:
  virtual ~BucketStore() = default;
  /// The time of the clock from which buckets and objects get their times.
  virtual Instant Now() const = 0;
  /// Takes name, project, location, class, labels, settings and policies from `wanted`.
  virtual Result<Bucket> CreateBucket(const Bucket& wanted) = 0;
  Result<Bucket> CreateBucket(const std::string& name);
  /// Settings and metadata that are not on disk yet are not shown: the disk may refuse them.
  virtual Result<Bucket> GetBucket(const std::string& name) const = 0;
  /// With such settings, for UpdateBucket.
  virtual Result<Bucket> GetUnsavedBucket(const std::string& name) const = 0;
  virtual Result<std::vector<Bucket>> ListBuckets() const = 0;
  /// Noncurrent versions count as contents. Soft-deleted versions are deleted with the bucket.
  virtual Status DeleteBucket(const std::string& name) = 0;
  /// Replaces the fields that CreateBucket takes, and the metageneration. Sets `updated` if the
  /// metageneration changes. kAborted unless `bucket.revision` is the bucket's current revision.
  /// Gives the bucket a new one, which no other content of it ever has.
  virtual Result<Bucket> UpdateBucket(const Bucket& bucket) = 0;

  virtual Result<std::unique_ptr<ObjectWriter>> NewObject(const std::string& bucket,
                                                          const std::string& name) = 0;
  /// Opens a writer whose bytes are kept under `key` (hexadecimal digits), even after a restart,
  /// until it commits or ForgetUpload() is called. It appends to the bytes kept so far.
  virtual Result<std::unique_ptr<ObjectWriter>> ResumeObject(const std::string& bucket,
                                                             const std::string& name,
                                                             const std::string& key) = 0;
  /// Keeps a short text instead of the bytes. The commit keeps one itself: UploadNote() then begins
  /// with the generation of the object.
  virtual Status NoteUpload(const std::string& key, const std::string& note) = 0;
  /// "" while bytes are kept under the key; nullopt when neither bytes nor text are.
  virtual Result<std::optional<std::string>> UploadNote(const std::string& key) const = 0;
  virtual void ForgetUpload(const std::string& key) = 0;

  virtual Result<ObjectInfo> GetObject(const std::string& bucket, const std::string& name,
                                       const Version& version = {}) const = 0;
  virtual Result<std::unique_ptr<ObjectReader>> OpenObject(const std::string& bucket,
                                                           const std::string& name,
                                                           const Version& version = {}) const = 0;
  virtual Result<Listing> List(const std::string& bucket, const ListQuery& query) const = 0;
  /// Without a generation deletes the live version, which a bucket with versioning keeps as a
  /// noncurrent one. With a generation deletes that version; a bucket with soft delete keeps it.
  /// kPermissionDenied while a hold or a retention forbids it.
  virtual Status DeleteObject(const std::string& bucket, const std::string& name,
                              const Preconditions& preconditions, const Version& version = {}) = 0;
  /// kPermissionDenied while a hold or a retention forbids DeleteObject with this version.
  virtual Status CheckDeletion(const std::string& bucket, const std::string& name,
                               const Version& version) const = 0;
  /// Replaces the fields that a client may set (content type, metadata and so on). Increments the
  /// metageneration. info.generation may name a noncurrent version; kNotFound if there is no such
  /// version. kAborted unless `info.revision` is the current one, as for a bucket.
  virtual Result<ObjectInfo> UpdateObject(const ObjectInfo& info,
                                          const Preconditions& preconditions) = 0;
  /// Gives the live object another name in its bucket, in one step and with a new generation.
  virtual Result<ObjectInfo> MoveObject(const std::string& bucket, const std::string& from,
                                        const std::string& to, const Preconditions& of_source,
                                        const Preconditions& of_target) = 0;
};

/// `live`: the object, or nullptr if it does not exist. kFailedPrecondition names the condition.
Status CheckPreconditions(const Preconditions& preconditions, const ObjectInfo* live);

/// The same for a bucket or a managed folder, which has no generation.
Status CheckMetagenerationConditions(const Preconditions& preconditions, int64_t metageneration);

// How a bucket's settings affect its objects.

/// The settings that have an effect in the emulator.
struct BucketRules {
  bool versioning = false;
  Duration soft_delete{0};  // how long a deleted object may be restored
  Duration retention{0};    // how long an object may be neither deleted nor overwritten
  bool retention_locked = false;
  bool default_event_based_hold = false;
  bool uniform_access = false;  // no ACLs
  bool public_access_prevented = false;
  std::string default_kms_key;
  std::string default_storage_class = "STANDARD";
  bool object_retention = false;  // objects may have a retention of their own
  bool autoclass = false;         // the service chooses the class: STANDARD for a new object
};
BucketRules RulesOf(const Bucket& bucket);

/// kInvalidArgument if the change switches uniform bucket-level access off after its lockedTime.
/// https://cloud.google.com/storage/docs/uniform-bucket-level-access
Status CheckUniformAccessKept(const Bucket& before, const Bucket& wanted, Instant now);

/// Sets the times that the service derives: since when a policy is in effect, when Autoclass was
/// switched, and until when uniform bucket-level access may be switched off.
void StampSettings(const Bucket& before, Instant now, Bucket* bucket);

/// Sets those that are missing, because an earlier version did not set them.
void AddMissingStamps(Instant since, Bucket* bucket);

/// The time at which the bucket's policy stops retaining the object. nullopt if the policy does not
/// retain it, or retains it without an end.
std::optional<Instant> RetentionEnd(const BucketRules& rules, const ObjectInfo& info);

/// kPermissionDenied while a hold or a retention forbids deleting the version.
Status CheckDeletable(const BucketRules& rules, const ObjectInfo& info, Instant now);

}  // namespace caip::gcs
