#pragma once
// Objects as storage/v1 writes them, and what clients may set of them.
// https://cloud.google.com/storage/docs/json_api/v1/objects

#include <string>

#include "base/json_fwd.h"
#include "fakes/gcs/service/uploads.h"

namespace caip::gcs {

/// `base`: the request's own scheme and host, "http://127.0.0.1:8080"; links are built on it.
Json ObjectJson(const ObjectInfo& info, const std::string& base);

/// Puts the writable fields of an object resource into `info`: missing ones stay, null clears.
/// Read-only fields are skipped, because clients send whole resources back. The service checks
/// what the fields say.
Status ApplyObjectFields(const Json& resource, ObjectInfo* info);
/// md5Hash and crc32c of an object resource. Only inserts look at them.
Result<ExpectedSums> SumsOf(const Json& resource);

}  // namespace caip::gcs
