
#include "fakes/gcs/service/settings.h"

#include <re2/re2.h>

#include <algorithm>

#include "base/encoding.h"
#include "base/json.h"
#include "base/quoting.h"
#include "base/text.h"
#include "fakes/gcs/calendar_time.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/service/access_lists.h"
#include "fakes/gcs/service/bucket_checks.h"
#include "fakes/gcs/service/bucket_fields.h"
#include "fakes/gcs/store/bucket_store.h"

namespace caip::gcs {
namespace {

// Fields that are stored and returned unchanged, except for what the service adds.
constexpr const char* kSettings[] = {
    "versioning",
    "lifecycle",
    "cors",
    "website",
    "logging",
    "billing",
    "retentionPolicy",
    "defaultEventBasedHold",
    "iamConfiguration",
    "encryption",
    "autoclass",
    "ipFilter",
    "softDeletePolicy",
    "objectRetention",
    "rpo",
};

// Settings whose effect is not emulated. They may be set where they have none.
constexpr const char* kNotEmulated[] = {"hierarchicalNamespace", "ipFilter"};

Json TreeOf(const std::string& text) {
  auto json = ParseJson(text);
  return json.ok() && json->is_object() ? std::move(*json) : Json::object();
}

// False for {"mode":"Disabled"}, {"enabled":false}, null, [] and false.
bool RequestsSomething(const Json& value) {
  if (StringOr(value, "mode") == "Disabled") return false;
  if (value.is_null() || value == false) return false;
  if (value.is_string()) return !value.get_ref<const std::string&>().empty();
  if (!value.is_object() && !value.is_array()) return true;
  for (const Json& member : value) {
    if (RequestsSomething(member)) return true;
  }
  return false;
}

// True for [], {} and {"rule":[]}, which mean the same as a missing setting.
bool IsEmptySetting(const Json& value) {
  if (value.is_array()) return value.empty();
  return value.is_object() && std::all_of(value.begin(), value.end(), IsEmptySetting);
}

// `wanted` is read already: its fields have the right types.
void ApplySetting(const Json& wanted, const char* name, Json* settings) {
  const Json* value = Member(wanted, name);
  if (value == nullptr) return;
  Json setting = *value;
  if (value->is_object()) {
    setting = settings->contains(name) ? (*settings)[name] : Json::object();
    setting.merge_patch(*value);  // drops members that are null
  }
  if (setting.is_null() || IsEmptySetting(setting)) {
    settings->erase(name);
  } else {
    (*settings)[name] = std::move(setting);
  }
}

// Uniform bucket-level access has two names with the same meaning. If a request has both, the newer
// name counts.
void NormalizeAccess(Json* settings, const Json& resource) {
  if (!settings->contains("iamConfiguration")) return;
  Json& iam = (*settings)["iamConfiguration"];
  if (StringOr(iam, "publicAccessPrevention") == "unspecified") {  // its older name
    iam["publicAccessPrevention"] = "inherited";
  }
  const Json* asked = Member(resource, "iamConfiguration");
  const bool only_old = asked != nullptr && Member(*asked, "bucketPolicyOnly") != nullptr &&
                        Member(*asked, "uniformBucketLevelAccess") == nullptr;
  const char* from = only_old ? "bucketPolicyOnly" : "uniformBucketLevelAccess";
  const char* other = only_old ? "uniformBucketLevelAccess" : "bucketPolicyOnly";
  if (iam.contains(from)) {
    iam[other] = iam[from];
  } else if (asked != nullptr && asked->is_object() && asked->contains(from)) {
    iam.erase(other);  // null clears both
  }
  if (iam.empty()) settings->erase("iamConfiguration");
}

void ApplyAccessLists(const Json& resource, Bucket* bucket) {
  for (const auto& [name, set] :
       {std::pair("acl", &SetBucketEntries), std::pair("defaultObjectAcl", &SetNewObjectEntries)}) {
    const Json* list = Member(resource, name);
    if (list == nullptr || !list->is_array()) continue;
    set(EntriesFromJson(*list), bucket);
  }
}

bool IsSameEntry(const AccessEntry& a, const AccessEntry& b) {
  return a.entity == b.entity && a.role == b.role;
}

// True if the request has entries for a list of a bucket. Those that `bucket`, if it is given, has
// already do not count.
bool NamesEntries(const Json& wanted, const Bucket* bucket) {
  for (const auto& [name, own] :
       {std::pair("acl", &BucketEntries), std::pair("defaultObjectAcl", &NewObjectEntries)}) {
    const Json* list = Member(wanted, name);
    if (list == nullptr || list->is_null() || list->empty()) continue;
    const AccessEntries entries = EntriesFromJson(*list);
    const AccessEntries known = bucket ? own(*bucket) : AccessEntries();
    if (!std::is_permutation(entries.begin(), entries.end(), known.begin(), known.end(),
                             IsSameEntry)) {
      return true;
    }
  }
  return false;
}

// The settings that a PUT does not replace.
Json LastingSettings(const Bucket& bucket) {
  const bool locked = RulesOf(bucket).retention_locked;
  const Json settings = SettingsOf(bucket);
  Json kept = Json::object();
  for (const auto& [name, value] : settings.items()) {
    const bool stays = name == "customPlacementConfig" || name == "objectRetention";
    if (stays || (locked && name == "retentionPolicy")) kept[name] = value;
  }
  return kept;
}

Status CheckEmulated(const Json& wanted) {
  for (const char* name : kNotEmulated) {
    const Json* value = Member(wanted, name);
    if (value && RequestsSomething(*value)) {
      return errors::NotImplemented("A bucket's field '" + std::string(name) + "'");
    }
  }
  if (StringOr(wanted, "storageClass") != "RAPID") return Ok{};
  return errors::NotImplemented("The storage class RAPID");
}

// Applies all fields except the location and the pair of regions, which `settings` has already.
Status ApplySettings(const Json& wanted, const BucketRules& before, Json settings, Bucket* bucket) {
  const std::string class_before = bucket->storage_class;
  RETURN_IF_ERROR(ApplyLabels(wanted, &bucket->labels));
  for (const char* name : kSettings) ApplySetting(wanted, name, &settings);
  RETURN_IF_ERROR(ApplyStorageClass(wanted, settings, bucket));
  RETURN_IF_ERROR(CompleteSettings(wanted, class_before, &settings, bucket));
  NormalizeAccess(&settings, wanted);
  bucket->settings = settings.empty() ? "" : CompactJson(settings);
  const BucketRules after = RulesOf(*bucket);
  if (before.retention_locked && (after.retention < before.retention || !after.retention_locked)) {
    return errors::RetentionLocked(bucket->name);
  }
  if (!after.uniform_access) {
    ApplyAccessLists(wanted, bucket);
    return Ok{};
  }
  // A request that switches uniform access on may send back the lists: gcloud does.
  if (!NamesEntries(wanted, before.uniform_access ? nullptr : bucket)) return Ok{};
  return errors::UniformAccess(errors::ListUse::kChangeBucket);
}

}  // namespace

Status ApplyNewBucketFields(const Json& resource, Bucket* bucket) {
  ASSIGN_OR_RETURN(const Json wanted, ReadResource(resource, resource_fields::kBucket));
  RETURN_IF_ERROR(CheckEmulated(wanted));
  Json settings = SettingsOf(*bucket);
  RETURN_IF_ERROR(ApplyLocation(wanted, &settings, bucket));
  RETURN_IF_ERROR(ApplySettings(wanted, {}, std::move(settings), bucket));
  if (!RulesOf(*bucket).uniform_access || !NamesEntries(wanted, nullptr)) return Ok{};
  return errors::UniformAccess(errors::ListUse::kChangeBucket);
}

Status ApplyBucketFields(const Json& resource, Bucket* bucket) {
  ASSIGN_OR_RETURN(const Json wanted, ReadResource(resource, resource_fields::kBucket));
  RETURN_IF_ERROR(CheckEmulated(wanted));
  RETURN_IF_ERROR(CheckLocationKept(wanted, *bucket));
  return ApplySettings(wanted, RulesOf(*bucket), SettingsOf(*bucket), bucket);
}

Status ReplaceBucketFields(const Json& resource, Bucket* bucket) {
  ASSIGN_OR_RETURN(const Json wanted, ReadResource(resource, resource_fields::kBucket));
  RETURN_IF_ERROR(CheckEmulated(wanted));
  RETURN_IF_ERROR(CheckLocationKept(wanted, *bucket));
  bucket->labels.clear();
  return ApplySettings(wanted, RulesOf(*bucket), LastingSettings(*bucket), bucket);
}

Json SettingsOf(const Bucket& bucket) { return TreeOf(bucket.settings); }

Json PoliciesOf(const Bucket& bucket) { return TreeOf(bucket.policies); }

void SetPolicies(const Json& policies, Bucket* bucket) {
  bucket->policies = policies.empty() ? "" : CompactJson(policies);
}

namespace {

constexpr size_t kMetadataBytesMax = 8 << 10;  // documented limit of custom metadata

struct Retention {
  std::string mode;
  std::optional<CalendarTime> until;
};

Retention RetentionFrom(const std::string& text) {
  const auto json = ParseJson(text);
  if (!json.ok()) return {};
  return {StringOr(*json, "mode"), ParseCalendarTime(StringOr(*json, "retainUntilTime"))};
}

void CheckRetention(const std::string& text, Violations* broken) {
  if (text.empty()) return;
  const Retention retention = RetentionFrom(text);
  if (retention.mode != "Locked" && retention.mode != "Unlocked") {
    broken->AddRule("retention.mode", "expected Locked or Unlocked");
  }
  if (!retention.until) {
    broken->AddRule("retention.retainUntilTime", "expected an RFC 3339 time");
  }
}

}  // namespace

std::string EtagOf(const ObjectInfo& info) {
  return Base64(std::to_string(info.generation) + "/" + std::to_string(info.metageneration));
}

Status CheckKmsKeyName(std::string_view field, std::string_view name) {
  static const RE2 form(
      "projects/[^/]+/locations/[^/]+/keyRings/[^/]+/cryptoKeys/[^/]+(/cryptoKeyVersions/[0-9]+)?");
  if (name.empty() || RE2::FullMatch(name, form)) return Ok{};
  return errors::FieldInvalid(
      field, Quoted(name) + " is not projects/P/locations/L/keyRings/R/cryptoKeys/K");
}

Status CheckObjectFields(const ObjectInfo& info) {
  Violations broken;
  if (!info.storage_class.empty() && !IsStorageClass(info.storage_class)) {
    broken.AddRule("storageClass", Quoted(info.storage_class) + " is not a storage class");
  }
  if (!info.custom_time.empty() && !ParseCalendarTime(info.custom_time)) {
    broken.AddRule("customTime", "expected an RFC 3339 time");
  }
  if (Status key = CheckKmsKeyName("kmsKeyName", info.kms_key_name); !key.ok()) {
    broken.Add("kmsKeyName", key.error());
  }
  CheckRetention(info.retention, &broken);
  size_t bytes = 0;
  for (const auto& [key, value] : info.metadata) bytes += key.size() + value.size();
  if (bytes > kMetadataBytesMax) {
    broken.AddRule("metadata", "all keys and values together may have at most 8 KiB");
  }
  return broken.AsStatus();
}

Status CheckCustomTimeChange(const std::string& before, const std::string& after) {
  if (before.empty() || before == after) return Ok{};
  const auto old = ParseCalendarTime(before);
  const auto now = ParseCalendarTime(after);
  if (now && old && *now >= *old) return Ok{};
  return errors::FieldInvalid("customTime",
                              "it is '" + before +
                                  "' and can neither be removed nor become earlier. Rewrite the "
                                  "object to reset it");
}

Status CheckRetentionChange(const std::string& before, const std::string& after, bool may_weaken) {
  if (before.empty() || before == after) return Ok{};
  const Retention old = RetentionFrom(before);
  const Retention now = RetentionFrom(after);
  const bool locked = old.mode == "Locked";
  const bool weaker = now.until.value_or(CalendarTime()) < old.until.value_or(CalendarTime()) ||
                      (locked && now.mode != "Locked");
  if (!weaker || (!locked && may_weaken)) return Ok{};
  return errors::ObjectRetained(locked);
}

Status CheckKey(const ObjectInfo& info, const std::string& key_sha256) {
  const std::string object = info.bucket + "/" + info.name;
  if (info.customer_key_sha256 == key_sha256) return Ok{};
  if (info.customer_key_sha256.empty()) {
    return errors::KeyInvalid("object '" + object + "' is not encrypted by such a key");
  }
  return key_sha256.empty() ? errors::KeyNeeded(object) : errors::KeyWrong(object);
}

}  // namespace caip::gcs
