#include "fakes/gcs/service/stored_settings.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "base/time_text.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/service/bucket_checks.h"
#include "fakes/gcs/service/bucket_fields.h"
#include "fakes/gcs/service/locations.h"
#include "fakes/gcs/service/settings.h"
#include "fakes/gcs/service/stored_values.h"

namespace caip::gcs {
namespace {

using Paths = std::vector<std::string>;

constexpr std::string_view kDerivedTimes[] = {"effectiveTime", "toggleTime", "lockedTime",
                                              "terminalStorageClassUpdateTime"};

// True for a valid value of a field that the service sets itself.
bool IsDerived(const std::string& name, const Json& value) {
  if (name == "isLocked") return value.is_boolean();
  const auto* end = std::end(kDerivedTimes);
  return std::find(std::begin(kDerivedTimes), end, name) != end && value.is_string() &&
         ParseRfc3339(value.get_ref<const std::string&>()).has_value();
}

void CheckStoredEntry(const Json& entry, const std::string& path, Violations* broken) {
  if (path.starts_with("lifecycle.rule[")) CheckLifecycleRule(entry, path, broken);
}

// True for {} and {"rule":[]}, which a request cannot set either.
bool IsWithoutContents(const Json& value) {
  return value.is_structured() && std::all_of(value.begin(), value.end(), IsWithoutContents);
}

void KeepValidSettings(Bucket* bucket, Paths* refused) {
  const Json stored = SettingsOf(*bucket);
  Json valid =
      ValidMembers(stored, resource_fields::kBucket, {IsDerived, CheckStoredEntry}, refused);
  if (!HasValidPlacement(valid, *bucket)) {
    valid.erase("customPlacementConfig");
    refused->push_back("customPlacementConfig");
  }
  Json settings = Json::object();
  for (const auto& [name, value] : valid.items()) {
    if (!IsWithoutContents(value)) settings[name] = value;
  }
  bucket->settings = settings.empty() ? "" : CompactJson(settings);
}

bool IsSame(const Bucket& a, const Bucket& b) {
  return a.settings == b.settings && a.location == b.location &&
         a.storage_class == b.storage_class && a.updated == b.updated;
}

Bucket WithValidSettings(const Bucket& stored, Paths* refused) {
  const Bucket defaults;
  Bucket bucket = stored;
  if (!IsLocation(bucket.location)) {
    refused->push_back("location");
    bucket.location = defaults.location;
  }
  if (!IsStorageClass(bucket.storage_class)) {
    refused->push_back("storageClass");
    bucket.storage_class = defaults.storage_class;
  }
  if (!bucket.settings.empty()) {
    KeepValidSettings(&bucket, refused);
    AddMissingStamps(bucket.updated, &bucket);
  }
  return bucket;
}

}  // namespace

Bucket StoredSettings::Readable(Bucket bucket) {
  const std::lock_guard lock(mutex_);
  auto& [stored, readable] = known_[bucket.name];
  if (stored.name.empty() || !IsSame(stored, bucket)) {
    Paths refused;
    readable = WithValidSettings(bucket, &refused);
    stored = bucket;
    if (!refused.empty() && warn_) warn_(errors::SettingsLeftOut(bucket.name, refused));
  }
  bucket.settings = readable.settings;
  bucket.location = readable.location;
  bucket.storage_class = readable.storage_class;
  return bucket;
}

void StoredSettings::Forget(const std::string& name) {
  const std::lock_guard lock(mutex_);
  known_.erase(name);
}

}  // namespace caip::gcs
