#include "fakes/gcs/service/stored_settings.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "base/time_text.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/service/bucket_checks.h"
#include "fakes/gcs/service/bucket_fields.h"
#include "fakes/gcs/service/bucket_schema.h"
#include "fakes/gcs/service/locations.h"
#include "fakes/gcs/service/settings.h"

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

// The valid entries.
Json ValidEntries(const Json& list, const BucketField& field, const std::string& path,
                  Paths* refused) {
  Json kept = Json::array();
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string place = path + "[" + std::to_string(i) + "]";
    auto entry = ReadBucketValue(list[i], field, place);
    const bool is_rule = path == "lifecycle.rule";
    if (!entry.ok() || entry->is_null() || (is_rule && !CheckLifecycleRule(*entry, place).ok())) {
      refused->push_back(place);
    } else {
      kept.push_back(std::move(*entry));
    }
  }
  return kept;
}

Json ValidMembers(const Json& stored, const BucketMessage& message, const std::string& path,
                  Paths* refused);

// null: nothing of the value is valid.
Json ValidValue(const Json& value, const BucketField& field, const std::string& path,
                Paths* refused) {
  const bool is_message = field.type == BucketFieldType::kMessage && !field.is_list;
  if (field.is_list && value.is_array()) return ValidEntries(value, field, path, refused);
  if (is_message && value.is_object()) return ValidMembers(value, *field.message, path, refused);
  if (!field.is_list && !is_message) {
    if (auto read = ReadBucketValue(value, field, path); read.ok()) return std::move(*read);
  }
  refused->push_back(path);
  return {};
}

Json ValidMembers(const Json& stored, const BucketMessage& message, const std::string& path,
                  Paths* refused) {
  Json kept = Json::object();
  for (const auto& [name, value] : stored.items()) {
    const std::string place = path.empty() ? name : path + "." + name;
    if (const BucketField* field = FindBucketField(message, name)) {
      Json valid = ValidValue(value, *field, place, refused);
      if (!valid.is_null()) kept[name] = std::move(valid);
    } else if (IsDerived(name, value)) {
      kept[name] = value;
    } else {
      refused->push_back(place);
    }
  }
  return kept;
}

// True for {} and {"rule":[]}, which a request cannot set either.
bool IsWithoutContents(const Json& value) {
  return value.is_structured() && std::all_of(value.begin(), value.end(), IsWithoutContents);
}

void KeepValidSettings(Bucket* bucket, Paths* refused) {
  const Json stored = SettingsOf(*bucket);
  Json valid = ValidMembers(stored, bucket_fields::kBucket, "", refused);
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

}  // namespace caip::gcs
