#pragma once
// Access control lists: kept and given back, never asked (everybody may do everything here).
// https://cloud.google.com/storage/docs/json_api/v1/objectAccessControls

#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "fakes/gcs/store/bucket_store.h"

namespace caip::gcs {

/// The entries of a list: an array of resources. `base` as for ObjectJson.
Json BucketAcl(const Bucket& bucket, const std::string& base);
Json DefaultObjectAcl(const Bucket& bucket, const std::string& base);
Json ObjectAcl(const Bucket& bucket, const ObjectInfo& info, const std::string& base);

/// kInvalidArgument unless it is an array of entries with an entity and a role.
Status CheckAcl(const Json& entries);

/// The list that predefinedAcl (or predefinedDefaultObjectAcl) stands for: [{entity, role}].
Result<Json> PredefinedAcl(std::string_view name);

/// The bare [{entity, role}] that are kept.
Json BareBucketAcl(const Bucket& bucket);
Json BareDefaultAcl(const Bucket& bucket);
Json BareObjectAcl(const Bucket& bucket, const ObjectInfo& info);

}  // namespace caip::gcs
