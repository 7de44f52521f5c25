#pragma once
// Access control lists. They are kept and given back and never asked: every client may do
// everything here. https://cloud.google.com/storage/docs/access-control/lists

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "fakes/gcs/store/bucket_store.h"

namespace caip::gcs {

/// Who has which role: OWNER, WRITER or READER.
struct AccessEntry {
  std::string entity;
  std::string role;
};
using AccessEntries = std::vector<AccessEntry>;

/// A bucket's own list, the one that its new objects get, or an object's.
enum class AccessListKind { kBucket, kNewObjects, kObject };

/// Which list.
struct AccessListPlace {
  AccessListKind kind = AccessListKind::kBucket;
  ObjectName object;  // without a name but for kObject
  Version version = {};
};

/// A list and what it belongs to. `object` is set for an object's list.
struct AccessList {
  Bucket bucket;
  std::optional<ObjectInfo> object;
  AccessEntries entries;
};

AccessEntries BucketEntries(const Bucket& bucket);
AccessEntries NewObjectEntries(const Bucket& bucket);
/// The object's own list, or the bucket's for new objects.
AccessEntries ObjectEntries(const Bucket& bucket, const ObjectInfo& info);

void SetBucketEntries(const AccessEntries& entries, Bucket* bucket);
void SetNewObjectEntries(const AccessEntries& entries, Bucket* bucket);
void SetObjectEntries(const AccessEntries& entries, ObjectInfo* info);

/// kInvalidArgument unless it has an entity and a known role.
Status CheckEntry(const AccessEntry& entry);

/// [{"entity","role"}], as JSON keeps and sends them; every entry is checked.
Result<AccessEntries> EntriesFromJson(const Json& list);

/// The list that predefinedAcl or predefinedDefaultObjectAcl stands for.
Result<AccessEntries> PredefinedEntries(std::string_view name);

/// Applies predefined lists by their names. With uniform access there are no lists to
/// set, and clients that send the parameter anyway (rclone) mean nothing by it.
Status ApplyPredefined(const std::optional<std::string>& acl,
                       const std::optional<std::string>& new_object_acl, Bucket* bucket);

}  // namespace caip::gcs
