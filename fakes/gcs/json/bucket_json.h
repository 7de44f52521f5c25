#pragma once
// Buckets as storage/v1 writes them, and what clients may set of them.
// https://cloud.google.com/storage/docs/json_api/v1/buckets

#include <string>

#include "base/json_fwd.h"
#include "fakes/gcs/store/bucket_store.h"

namespace caip::gcs {

/// `base`: as for ObjectJson. `full`: with the access control lists.
Json BucketJson(const Bucket& bucket, const std::string& base, bool full = false);

std::string EtagOf(const Bucket& bucket);

/// Puts the writable fields of a bucket resource into `bucket` as a PATCH does: missing ones stay,
/// objects are merged, null clears. Read-only ones are skipped. What is not emulated at all is
/// kUnimplemented.
Status ApplyBucketFields(const Json& resource, Bucket* bucket);

/// Forgets all that a PUT replaces.
void ClearBucketFields(Bucket* bucket);

/// Bucket::policies as a tree, and back.
Json PoliciesOf(const Bucket& bucket);
void SetPolicies(const Json& policies, Bucket* bucket);

}  // namespace caip::gcs
