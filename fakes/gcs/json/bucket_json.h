#pragma once
// Buckets as storage/v1 writes them.
// https://cloud.google.com/storage/docs/json_api/v1/buckets

#include <string>

#include "base/json_fwd.h"
#include "fakes/gcs/store/bucket_store.h"

namespace caip::gcs {

/// `base`: as for ObjectJson. `full`: with the access control lists.
Json BucketJson(const Bucket& bucket, const std::string& base, bool full = false);

std::string EtagOf(const Bucket& bucket);

}  // namespace caip::gcs
