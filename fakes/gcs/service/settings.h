#pragma once
// The fields of buckets and objects that clients may set, and the rules for them. A bucket's
// settings and policies are stored as JSON documents.
// https://cloud.google.com/storage/docs/json_api/v1/buckets

#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "fakes/gcs/store/bucket_store.h"

namespace caip::gcs {

/// Sets the writable fields of a bucket resource in `bucket` as a PATCH does: missing fields are
/// kept, objects are merged, null clears a field. Fields that are read-only or unknown are skipped.
/// kInvalidArgument for a value of the wrong type, and for one that the service does not have or
/// that does not fit the bucket. kUnimplemented for a field that is not emulated
/// at all.
Status ApplyBucketFields(const Json& resource, Bucket* bucket);

/// The same for a bucket that is to be created. Only such a bucket can get a location.
Status ApplyNewBucketFields(const Json& resource, Bucket* bucket);

/// The same as a PUT does: settings and labels that the resource does not name are cleared, except
/// those that can never be changed.
Status ReplaceBucketFields(const Json& resource, Bucket* bucket);

/// Parses Bucket::settings; an empty object if the bucket has none.
Json SettingsOf(const Bucket& bucket);

/// Parses Bucket::policies, and writes them back.
Json PoliciesOf(const Bucket& bucket);
void SetPolicies(const Json& policies, Bucket* bucket);

/// The strong validator that the JSON resource and the ETag header share.
std::string EtagOf(const ObjectInfo& info);

/// Checks the name of a Cloud KMS key, or of a version of one. kInvalidArgument names the field.
/// "" names no key.
Status CheckKmsKeyName(std::string_view field, std::string_view name);

/// Checks storageClass, customTime, kmsKeyName, retention and metadata. kInvalidArgument names the
/// field.
Status CheckObjectFields(const ObjectInfo& info);

/// An object's customTime can neither be removed nor become earlier.
/// https://cloud.google.com/storage/docs/metadata#custom-time
Status CheckCustomTimeChange(const std::string& before, const std::string& after);

/// A locked retention may only be extended. An unlocked one may be shortened or removed if
/// `may_weaken` is set.
Status CheckRetentionChange(const std::string& before, const std::string& after, bool may_weaken);

/// Checks that a request may read the object with its customer-supplied key, or without one.
/// `key_sha256` is the result of CustomerKeySha256().
Status CheckKey(const ObjectInfo& info, const std::string& key_sha256);

}  // namespace caip::gcs
