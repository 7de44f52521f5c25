#pragma once
// A bucket's settings and policies, which are stored as JSON documents, and the fields that clients
// may set.
// https://cloud.google.com/storage/docs/json_api/v1/buckets

#include "base/json_fwd.h"
#include "fakes/gcs/store/bucket_store.h"

namespace caip::gcs {

/// Puts the writable fields of a bucket resource into `bucket` as a PATCH does: missing ones stay,
/// objects are merged, null clears. Read-only ones are skipped. A field that is not emulated at all
/// is kUnimplemented.
Status ApplyBucketFields(const Json& resource, Bucket* bucket);

/// Clears every field that a PUT replaces.
void ClearBucketFields(Bucket* bucket);

/// Bucket::settings as a tree; an empty object where the bucket has none.
Json SettingsOf(const Bucket& bucket);

/// Bucket::policies as a tree, and back.
Json PoliciesOf(const Bucket& bucket);
void SetPolicies(const Json& policies, Bucket* bucket);

}  // namespace caip::gcs
