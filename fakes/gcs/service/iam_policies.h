#pragma once
// The rules for IAM policies of buckets, managed folders and objects. Private to fakes/gcs/service.
// https://cloud.google.com/storage/docs/json_api/v1/buckets/setIamPolicy

#include "base/json_fwd.h"
#include "base/result.h"
#include "fakes/gcs/store/bucket_store.h"

namespace caip::gcs {

/// Reads the policy that a request sets. Bindings without members are left out. kInvalidArgument
/// names all fields that are wrong.
Result<Json> ReadPolicy(const Json& body);

/// Leaves out what an earlier version stored unchecked.
Json ReadablePolicy(const Json& stored);

/// True if a binding has a condition.
bool HasConditions(const Json& policy);

/// kFailedPrecondition if the policy has conditions and the bucket has no uniform bucket-level
/// access. https://cloud.google.com/storage/docs/access-control/iam#conditions
Status CheckConditions(const Json& policy, const Bucket& bucket);

/// kInvalidArgument if the policy has conditions and its version is not 3. The service checks this
/// after CheckConditions().
Status CheckConditionsVersion(const Json& policy);

}  // namespace caip::gcs
