#pragma once
// What a bucket's settings mean for its objects.

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

/// Writes into the settings since when a policy that changed is in force.
void StampSettings(const Bucket& before, Instant now, Bucket* bucket);

/// Until when the bucket's policy keeps the object; nullopt where it does not, or holds it without
/// an end.
std::optional<Instant> RetentionEnd(const BucketRules& rules, const ObjectInfo& info);

/// kPermissionDenied while a hold or a retention forbids that the version's bytes go.
Status MayLose(const BucketRules& rules, const ObjectInfo& info, Instant now);

}  // namespace caip::gcs
