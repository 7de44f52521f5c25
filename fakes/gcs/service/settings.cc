
#include "fakes/gcs/service/settings.h"

#include "base/encoding.h"
#include "base/json.h"
#include "base/text.h"
#include "base/time_text.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/service/access_lists.h"
#include "fakes/gcs/store/bucket_store.h"

namespace caip::gcs {
namespace {

// Fields that are stored and returned unchanged, except for what the service adds.
enum class Shape { kObject, kArray, kFlag, kText };
struct Setting {
  const char* name;
  Shape shape;
};
constexpr Setting kSettings[] = {
    {"versioning", Shape::kObject},
    {"lifecycle", Shape::kObject},
    {"cors", Shape::kArray},
    {"website", Shape::kObject},
    {"logging", Shape::kObject},
    {"billing", Shape::kObject},
    {"retentionPolicy", Shape::kObject},
    {"defaultEventBasedHold", Shape::kFlag},
    {"iamConfiguration", Shape::kObject},
    {"encryption", Shape::kObject},
    {"autoclass", Shape::kObject},
    {"customPlacementConfig", Shape::kObject},
    {"softDeletePolicy", Shape::kObject},
    {"objectRetention", Shape::kObject},
    {"rpo", Shape::kText},
};

// Settings whose effect is not emulated.
constexpr const char* kNotEmulated[] = {"hierarchicalNamespace", "ipFilter"};

constexpr long long kRetentionSecondsMax = 3'155'760'000;  // 100 years
constexpr long long kSoftDeleteSecondsMax = 90 * 86'400;

Json TreeOf(const std::string& text) {
  auto json = ParseJson(text);
  return json.ok() && json->is_object() ? std::move(*json) : Json::object();
}

bool Fits(const Json& value, Shape shape) {
  switch (shape) {
    case Shape::kObject:
      return value.is_object();
    case Shape::kArray:
      return value.is_array();
    case Shape::kFlag:
      return value.is_boolean();
    case Shape::kText:
      return value.is_string();
  }
  return false;
}

// False for {"enabled":false}, null, [] and false.
bool RequestsSomething(const Json& value) {
  if (value.is_null() || value == false) return false;
  if (value.is_string()) return !value.get_ref<const std::string&>().empty();
  if (!value.is_object() && !value.is_array()) return true;
  for (const Json& member : value) {
    if (RequestsSomething(member)) return true;
  }
  return false;
}

Status ApplySetting(const Json& resource, const Setting& setting, Json* settings) {
  const Json* value = Member(resource, setting.name);
  if (value == nullptr) return Ok{};
  if (value->is_null()) {
    settings->erase(setting.name);
    return Ok{};
  }
  if (!Fits(*value, setting.shape)) {
    return errors::FieldInvalid(setting.name, "the value is of the wrong type");
  }
  if (setting.shape == Shape::kObject && settings->contains(setting.name)) {
    (*settings)[setting.name].merge_patch(*value);
  } else if (setting.shape == Shape::kObject) {
    Json fresh;
    fresh.merge_patch(*value);  // drops members that are null
    (*settings)[setting.name] = std::move(fresh);
  } else {
    (*settings)[setting.name] = *value;
  }
  return Ok{};
}

// Responses have seconds as strings, even if the request had numbers.
Status NormalizeSeconds(Json* settings, const char* name, const char* member, long long least,
                        long long most) {
  if (!settings->contains(name) || !(*settings)[name].contains(member)) return Ok{};
  Json& value = (*settings)[name][member];
  const long long seconds = IntOr((*settings)[name], member, -1);
  if (seconds < least || seconds > most) {
    return errors::FieldInvalid(std::string(name) + "." + member,
                                "expected a number of seconds from " + std::to_string(least) +
                                    " to " + std::to_string(most));
  }
  value = std::to_string(seconds);
  return Ok{};
}

// Uniform bucket-level access has two names with the same meaning. If a request has both, the newer
// name counts.
void NormalizeAccess(Json* settings, const Json& resource) {
  if (!settings->contains("iamConfiguration")) return;
  Json& iam = (*settings)["iamConfiguration"];
  const Json* asked = Member(resource, "iamConfiguration");
  const bool only_old = asked != nullptr && Member(*asked, "bucketPolicyOnly") != nullptr &&
                        Member(*asked, "uniformBucketLevelAccess") == nullptr;
  const char* from = only_old ? "bucketPolicyOnly" : "uniformBucketLevelAccess";
  if (!iam.contains(from)) return;
  iam["uniformBucketLevelAccess"] = iam[from];
  iam["bucketPolicyOnly"] = iam[from];
}

Status ApplyText(const Json& resource, const char* name, std::string* into) {
  const Json* value = Member(resource, name);
  if (value == nullptr) return Ok{};
  if (!value->is_string() || value->get<std::string>().empty()) {
    return errors::FieldInvalid(name, "expected a string");
  }
  *into = UpperCase(value->get<std::string>());
  return Ok{};
}

Status ApplyLabels(const Json& resource, std::map<std::string, std::string>* labels) {
  const Json* value = Member(resource, "labels");
  if (value == nullptr) return Ok{};
  if (value->is_null()) labels->clear();
  if (!value->is_null() && !value->is_object()) {
    return errors::FieldInvalid("labels", "expected an object of strings");
  }
  for (const auto& [key, label] : value->items()) {
    if (label.is_null()) {
      labels->erase(key);
    } else if (label.is_string()) {
      (*labels)[key] = label.get<std::string>();
    } else {
      return errors::FieldInvalid("labels." + key, "expected a string");
    }
  }
  constexpr size_t kLabelsMax = 64;
  if (labels->size() > kLabelsMax) return errors::FieldInvalid("labels", "at most 64 are allowed");
  return Ok{};
}

Status ApplyAccessLists(const Json& resource, Bucket* bucket) {
  for (const auto& [name, set] :
       {std::pair("acl", &SetBucketEntries), std::pair("defaultObjectAcl", &SetNewObjectEntries)}) {
    const Json* list = Member(resource, name);
    if (list == nullptr || !list->is_array()) continue;
    ASSIGN_OR_RETURN(const AccessEntries entries, EntriesFromJson(*list));
    set(entries, bucket);
  }
  return Ok{};
}

}  // namespace

Status ApplyBucketFields(const Json& resource, Bucket* bucket) {
  if (!resource.is_object()) return errors::BodyInvalid("expected a JSON object");
  for (const char* name : kNotEmulated) {
    const Json* value = Member(resource, name);
    if (value && RequestsSomething(*value)) {
      return errors::NotImplemented("A bucket's field '" + std::string(name) + "'");
    }
  }
  const BucketRules before = RulesOf(*bucket);
  RETURN_IF_ERROR(ApplyText(resource, "location", &bucket->location));
  RETURN_IF_ERROR(ApplyText(resource, "storageClass", &bucket->storage_class));
  RETURN_IF_ERROR(ApplyLabels(resource, &bucket->labels));
  Json settings = SettingsOf(*bucket);
  for (const Setting& setting : kSettings) {
    RETURN_IF_ERROR(ApplySetting(resource, setting, &settings));
  }
  RETURN_IF_ERROR(
      NormalizeSeconds(&settings, "retentionPolicy", "retentionPeriod", 1, kRetentionSecondsMax));
  RETURN_IF_ERROR(NormalizeSeconds(&settings, "softDeletePolicy", "retentionDurationSeconds", 0,
                                   kSoftDeleteSecondsMax));
  NormalizeAccess(&settings, resource);
  bucket->settings = settings.empty() ? "" : CompactJson(settings);
  const BucketRules after = RulesOf(*bucket);
  if (before.retention_locked && (after.retention < before.retention || !after.retention_locked)) {
    return errors::RetentionLocked(bucket->name);
  }
  if (after.uniform_access) return Ok{};
  return ApplyAccessLists(resource, bucket);
}

void ClearBucketFields(Bucket* bucket) {
  const bool locked = RulesOf(*bucket).retention_locked;
  const Json settings = SettingsOf(*bucket);
  bucket->labels.clear();
  bucket->settings =
      locked ? CompactJson(Json{{"retentionPolicy", settings["retentionPolicy"]}}) : "";
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
  std::optional<Instant> until;
};

Retention RetentionFrom(const std::string& text) {
  const auto json = ParseJson(text);
  if (!json.ok()) return {};
  return {StringOr(*json, "mode"), ParseRfc3339(StringOr(*json, "retainUntilTime"))};
}

Status CheckRetention(const std::string& text) {
  if (text.empty()) return Ok{};
  const Retention retention = RetentionFrom(text);
  if (retention.mode != "Locked" && retention.mode != "Unlocked") {
    return errors::FieldInvalid("retention.mode", "expected Locked or Unlocked");
  }
  if (!retention.until) {
    return errors::FieldInvalid("retention.retainUntilTime", "expected an RFC 3339 time");
  }
  return Ok{};
}

}  // namespace

std::string EtagOf(const ObjectInfo& info) {
  return Base64(std::to_string(info.generation) + "/" + std::to_string(info.metageneration));
}

Status CheckObjectFields(const ObjectInfo& info) {
  if (!info.custom_time.empty() && !ParseRfc3339(info.custom_time)) {
    return errors::FieldInvalid("customTime", "expected an RFC 3339 time");
  }
  RETURN_IF_ERROR(CheckRetention(info.retention));
  size_t bytes = 0;
  for (const auto& [key, value] : info.metadata) bytes += key.size() + value.size();
  if (bytes > kMetadataBytesMax) {
    return errors::FieldInvalid("metadata", "all keys and values together may have at most 8 KiB");
  }
  return Ok{};
}

Status CheckCustomTimeChange(const std::string& before, const std::string& after) {
  if (before.empty() || before == after) return Ok{};
  const auto old = ParseRfc3339(before);
  const auto now = ParseRfc3339(after);
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
  const bool weaker = now.until.value_or(Instant()) < old.until.value_or(Instant()) ||
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
