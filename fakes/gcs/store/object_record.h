#pragma once
// An object's metadata together with the file that it describes, and a cache of such records.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/hash.h"
#include "fakes/gcs/store/bucket_store.h"

namespace caip::gcs {

/// Identifies the file that a record describes. A file that differs was changed by hand.
struct FileIdentity {
  uint64_t inode = 0;
  int64_t modified_ns = 0;
  uint64_t size = 0;
  bool operator==(const FileIdentity&) const = default;
};

/// An object as its file was last written or looked up.
struct ObjectRecord {
  ObjectInfo info;
  FileIdentity file;
  bool hashed = false;  // md5 and crc32c are known
};
using RecordPtr = std::shared_ptr<const ObjectRecord>;

/// A text property of an object, with its name in the JSON API.
struct TextField {
  const char* name;
  std::string ObjectInfo::*member;
};

inline constexpr TextField kTextFields[] = {
    {"contentType", &ObjectInfo::content_type},
    {"contentEncoding", &ObjectInfo::content_encoding},
    {"contentDisposition", &ObjectInfo::content_disposition},
    {"contentLanguage", &ObjectInfo::content_language},
    {"cacheControl", &ObjectInfo::cache_control},
    {"customTime", &ObjectInfo::custom_time},
    {"storageClass", &ObjectInfo::storage_class},
    {"kmsKeyName", &ObjectInfo::kms_key_name},
};

/// Properties that are stored as JSON.
inline constexpr TextField kJsonFields[] = {
    {"retention", &ObjectInfo::retention},
    {"contexts", &ObjectInfo::contexts},
};

/// A hold. `shown`: whether the object resource has the field; a hold that was released is false.
struct FlagField {
  const char* name;
  bool ObjectInfo::*member;
  bool ObjectInfo::*shown;

  /// nullopt: as if it had never been set.
  void Set(std::optional<bool> value, ObjectInfo* info) const {
    info->*member = value.value_or(false);
    info->*shown = value.has_value();
  }
  bool IsShown(const ObjectInfo& info) const { return info.*member || info.*shown; }
};

inline constexpr FlagField kFlagFields[] = {
    {"temporaryHold", &ObjectInfo::temporary_hold, &ObjectInfo::shows_temporary_hold},
    {"eventBasedHold", &ObjectInfo::event_based_hold, &ObjectInfo::shows_event_based_hold},
};

/// Converts metadata to text and back, except bucket, name, generation, size and checksums, which
/// have columns of their own.
std::string ObjectRecordText(const ObjectInfo& info);
ObjectInfo ObjectFromRecordText(std::string_view text);

/// The text that an upload leaves when it becomes an object: the generation, a space, and the whole
/// record as JSON.
std::string CommitNoteText(const ObjectRecord& record);
/// nullopt for any other text.
std::optional<ObjectRecord> RecordOfCommitNote(std::string_view note);

std::string BucketRecordText(const Bucket& bucket);
Bucket BucketFromRecordText(std::string_view text);

/// Caches recently used records, so that a read does not query SQLite. It holds two generations.
/// When the young one is full, it becomes the old one; records that are found in the old one move
/// to the young one. The owner's mutex guards it.
class RecordCache {
 public:
  explicit RecordCache(size_t generation_size) : generation_size_(generation_size) {}

  /// nullptr: it is not kept.
  RecordPtr Find(const std::string& bucket, const std::string& name);
  void Put(RecordPtr record);
  void Forget(const std::string& bucket, const std::string& name);
  void Clear();
  size_t size() const { return young_.size() + old_.size(); }

 private:
  using Records = std::unordered_map<std::string, RecordPtr, KeyedHasher>;

  // A bucket's name has no slash, so the keys are unique.
  static std::string KeyOf(const std::string& bucket, const std::string& name) {
    return bucket + "/" + name;
  }
  RecordPtr Add(std::string key, RecordPtr record);

  size_t generation_size_;
  Records young_;
  Records old_;
};

}  // namespace caip::gcs
