#pragma once
// The effects of a bucket's settings on its objects.

#include <optional>
#include <string>

#include "base/clock.h"
#include "fakes/gcs/store/bucket_store.h"

namespace caip::gcs {

/// The settings that have an effect here.
struct BucketRules {
  bool versioning = false;
  Duration soft_delete{0};  // how long a deleted object may be restored
  Duration retention{0};    // how long an object may be neither deleted nor overwritten
  bool retention_locked = false;
  bool default_event_based_hold = false;
  bool uniform_access = false;  // no ACLs
  std::string default_kms_key;
};
BucketRules RulesOf(const Bucket& bucket);

/// Sets the effective time of each policy that changed.
void StampSettings(const Bucket& before, Instant now, Bucket* bucket);

/// When the bucket's policy releases the object; nullopt if it does not retain it, or retains it
/// without an end.
std::optional<Instant> RetentionEnd(const BucketRules& rules, const ObjectInfo& info);

/// kPermissionDenied while a hold or a retention forbids deleting the version.
Status MayLose(const BucketRules& rules, const ObjectInfo& info, Instant now);

}  // namespace caip::gcs
