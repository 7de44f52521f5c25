#pragma once
// Access control lists as storage/v1 writes them.
// https://cloud.google.com/storage/docs/json_api/v1/objectAccessControls

#include <string>

#include "base/json_fwd.h"
#include "fakes/gcs/service/access_lists.h"

namespace caip::gcs {

/// The entries of a list as an array of resources. `base`: as for ObjectJson.
Json BucketAclJson(const Bucket& bucket, const std::string& base);
Json NewObjectAclJson(const Bucket& bucket, const std::string& base);
Json AclJson(const ObjectInfo& info, const AccessEntries& entries, const std::string& base);

}  // namespace caip::gcs
