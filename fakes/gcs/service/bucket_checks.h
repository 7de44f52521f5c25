#pragma once
// The rules for the settings of a bucket that concern several fields, and the service's choice
// where a request leaves one open.

#include <map>
#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"
#include "fakes/gcs/service/violations.h"
#include "fakes/gcs/store/bucket_store.h"

namespace caip::gcs {

/// True for the name of a storage class, in any case.
bool IsStorageClass(std::string_view name);

/// Gives a new bucket the location and the pair of regions that a request asks for.
/// kInvalidArgument for an unknown location and for two regions that cannot be a pair.
Status ApplyLocation(const Json& wanted, Json* settings, Bucket* bucket);

/// kInvalidArgument if the request would move a bucket that exists.
Status CheckLocationKept(const Json& wanted, const Bucket& bucket);

/// Sets the default storage class. kInvalidArgument for one that the location does not have.
Status ApplyStorageClass(const Json& wanted, const Json& settings, Bucket* bucket);

/// False if the settings name two regions that cannot be a pair in the bucket's location.
bool HasValidPlacement(const Json& settings, const Bucket& bucket);

/// Checks that a rule that has the right types has an action and a condition that belong together.
void CheckLifecycleRule(const Json& rule, const std::string& path, Violations* broken);

/// Checks and sets the labels.
Status ApplyLabels(const Json& wanted, std::map<std::string, std::string>* labels);

/// Checks the settings that `wanted` names, after they were merged into `settings`, and completes
/// them. With Autoclass, the default storage class is STANDARD, and a request may not choose
/// another one. `class_before`: the default storage class before the request.
Status CompleteSettings(const Json& wanted, const std::string& class_before, Json* settings,
                        Bucket* bucket);

}  // namespace caip::gcs
