#pragma once
// The fields of buckets and objects that clients may set, and the rules for them. A bucket's
// settings and policies are stored as JSON documents.
// https://cloud.google.com/storage/docs/json_api/v1/buckets

#include <string>

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

/// The strong validator that the JSON resource and the ETag header share.
std::string EtagOf(const ObjectInfo& info);

/// Checks customTime, retention and metadata. kInvalidArgument names the field.
Status CheckObjectFields(const ObjectInfo& info);

/// A locked retention may only be extended. An unlocked one may be shortened or removed if
/// `may_weaken` is set.
Status CheckRetentionChange(const std::string& before, const std::string& after, bool may_weaken);

/// Does the customer-supplied key open the object? An object without a key opens without one only.
/// `shown_sha256` is what KeyShown() gives.
Status CheckKey(const ObjectInfo& info, const std::string& shown_sha256);

}  // namespace caip::gcs
