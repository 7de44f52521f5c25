#pragma once
// Access control lists. The emulator stores and returns them but does not enforce them: every
// client may do everything here. https://cloud.google.com/storage/docs/access-control/lists

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "fakes/gcs/store/bucket_store.h"

namespace caip::gcs {

/// Gives an entity a role: OWNER, WRITER or READER.
struct AccessEntry {
  std::string entity;
  std::string role;
};
using AccessEntries = std::vector<AccessEntry>;

/// A bucket's own list, the list of its new objects, or an object's list.
enum class AccessListKind { kBucket, kNewObjects, kObject };

/// Names an access control list.
struct AccessListPlace {
  AccessListKind kind = AccessListKind::kBucket;
  ObjectName object;  // its name is "" unless the kind is kObject
  Version version = {};
};

/// An access control list with its bucket. `object` is set if the list is an object's.
struct AccessList {
  Bucket bucket;
  std::optional<ObjectInfo> object;
  AccessEntries entries;
};

/// With the number of the bucket's project. A stored list may have 0 in its place.
AccessEntries BucketEntries(const Bucket& bucket);
AccessEntries NewObjectEntries(const Bucket& bucket);
/// The object's own list, or the bucket's for new objects.
AccessEntries ObjectEntries(const Bucket& bucket, const ObjectInfo& info);

void SetBucketEntries(const AccessEntries& entries, Bucket* bucket);
void SetNewObjectEntries(const AccessEntries& entries, Bucket* bucket);
void SetObjectEntries(const AccessEntries& entries, ObjectInfo* info);

/// Checks entities, roles and the number of the entries.
Status CheckEntries(const AccessEntries& entries, AccessListKind kind);

/// Reads the entry that a request sets.
Result<AccessEntry> ReadEntry(const Json& body, AccessListKind kind);

/// Reads [{"entity","role"}], whose types and values were checked.
AccessEntries EntriesFromJson(const Json& list);

/// The list that predefinedAcl or predefinedDefaultObjectAcl stands for, as it is stored: with 0 in
/// place of the project's number, which BucketEntries and the like put in.
/// https://cloud.google.com/storage/docs/access-control/lists#predefined-acl
Result<AccessEntries> PredefinedEntries(std::string_view name, AccessListKind kind);

/// Applies predefined lists by their names. Does nothing with uniform access, where buckets have no
/// lists, because rclone sends the parameter anyway.
Status ApplyPredefined(const std::optional<std::string>& acl,
                       const std::optional<std::string>& new_object_acl, Bucket* bucket);

/// kFailedPrecondition if the change makes a bucket public that prevents public access.
/// https://cloud.google.com/storage/docs/public-access-prevention
Status CheckPublicAccess(const Bucket& before, const Bucket& after);

}  // namespace caip::gcs
