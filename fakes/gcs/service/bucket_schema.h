#pragma once
// The fields of a bucket resource that a client may set, with their types and values, as the
// discovery document of storage/v1 lists them.
// https://cloud.google.com/storage/docs/json_api/v1/buckets#resource-representations

#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"

namespace caip::gcs {

/// Reads the bucket resource of a request and checks the type and the value of every field at every
/// depth. Writes numbers in the form in which the service returns them. Leaves out fields that are
/// read-only or unknown, as the service does. Keeps null, which clears a field. kInvalidArgument
/// names the field.
Result<Json> ReadBucketResource(const Json& resource);

/// True for the name of a storage class, in any case.
bool IsStorageClass(std::string_view name);

}  // namespace caip::gcs
