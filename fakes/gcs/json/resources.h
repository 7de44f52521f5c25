#pragma once
// Buckets, objects and access control lists as storage/v1 writes them, and the object fields that
// clients may set. https://cloud.google.com/storage/docs/json_api/v1

#include <string>

#include "base/json_fwd.h"
#include "fakes/gcs/service/access_lists.h"
#include "fakes/gcs/service/uploads.h"
#include "fakes/gcs/store/bucket_store.h"

namespace caip::gcs {

/// `base`: as for ObjectJson. `full`: with the access control lists.
Json BucketJson(const Bucket& bucket, const std::string& base, bool full = false);

std::string EtagOf(const Bucket& bucket);

/// The entries of a list as an array of resources. `base`: as for ObjectJson.
Json BucketAclJson(const Bucket& bucket, const std::string& base);
Json NewObjectAclJson(const Bucket& bucket, const std::string& base);
Json AclJson(const ObjectInfo& info, const AccessEntries& entries, const std::string& base);

/// `base`: the request's own scheme and host, "http://127.0.0.1:8080"; links are built on it.
Json ObjectJson(const ObjectInfo& info, const std::string& base);

/// Sets the writable fields of an object resource in `info`. Missing fields are kept, null clears a
/// field. Read-only fields are skipped, because clients send whole resources back. The service
/// checks the values.
Status ApplyObjectFields(const Json& resource, ObjectInfo* info);
/// Reads md5Hash and crc32c of an object resource. Only inserts use them.
Result<ExpectedSums> SumsOf(const Json& resource);

}  // namespace caip::gcs
