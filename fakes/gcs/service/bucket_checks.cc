#include "fakes/gcs/service/bucket_checks.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/service/bucket_fields.h"
#include "fakes/gcs/service/locations.h"
#include "fakes/gcs/service/settings.h"

namespace caip::gcs {
namespace {

constexpr const char* kPlacement = "customPlacementConfig";
constexpr const char* kStandard = "STANDARD";
constexpr const char* kDefaultPairLocation = "US";

// The two regions of a configurable dual-region; empty if `settings` has none.
std::vector<std::string> RegionsIn(const Json& settings) {
  std::vector<std::string> regions;
  const Json* placement = Member(settings, kPlacement);
  const Json* listed = placement ? Member(*placement, "dataLocations") : nullptr;
  if (listed == nullptr || !listed->is_array()) return regions;
  for (const Json& region : *listed) {
    if (region.is_string()) regions.push_back(UpperCase(region.get<std::string>()));
  }
  return regions;
}

LocationType TypeOf(const Bucket& bucket, const Json& settings) {
  return LocationTypeOf(bucket.location, !RegionsIn(settings).empty());
}

}  // namespace

bool IsStorageClass(std::string_view name) {
  const std::string upper = UpperCase(name);
  const auto& known = resource_fields::kStorageClasses;
  return std::find(std::begin(known), std::end(known), upper) != std::end(known);
}

Status ApplyLocation(const Json& wanted, Json* settings, Bucket* bucket) {
  std::string location = UpperCase(StringOr(wanted, "location"));
  std::vector<std::string> regions = RegionsIn(wanted);
  const bool is_sum = regions.empty() && location.find('+') != std::string::npos;
  if (is_sum) {  // "US-EAST1+US-WEST1", an older form
    regions = Split(location, '+');
    location = LocationOfPair(regions);
    if (location.empty()) return errors::LocationInvalid(StringOr(wanted, "location"));
  }
  if (regions.empty()) {
    if (location.empty()) return Ok{};
    if (!IsLocation(location)) return errors::LocationInvalid(location);
    bucket->location = location;
    return Ok{};
  }
  bucket->location = location.empty() ? kDefaultPairLocation : location;
  if (!IsRegionPair(bucket->location, regions)) {
    return errors::PlacementInvalid(bucket->location, Join(regions, ", "));
  }
  (*settings)[kPlacement]["dataLocations"] = regions;
  return Ok{};
}

bool HasValidPlacement(const Json& settings, const Bucket& bucket) {
  return Member(settings, kPlacement) == nullptr ||
         IsRegionPair(bucket.location, RegionsIn(settings));
}

Status CheckLocationKept(const Json& wanted, const Bucket& bucket) {
  const std::string location = UpperCase(StringOr(wanted, "location"));
  const std::vector<std::string> regions = RegionsIn(wanted);
  const bool moves = (!location.empty() && location != bucket.location) ||
                     (!regions.empty() && regions != RegionsIn(SettingsOf(bucket)));
  return moves ? Status(errors::LocationFixed(bucket.name, bucket.location)) : Status(Ok{});
}

Status ApplyStorageClass(const Json& wanted, const Json& settings, Bucket* bucket) {
  if (Member(wanted, "storageClass") == nullptr) return Ok{};
  bucket->storage_class = StringOr(wanted, "storageClass", kStandard);
  const std::string& kept = bucket->storage_class;
  const bool in_region = TypeOf(*bucket, settings) == LocationType::kRegion;
  if (kept != (in_region ? "MULTI_REGIONAL" : "REGIONAL")) return Ok{};
  return errors::ClassNotInLocation(kept, bucket->location);
}

// Labels: https://cloud.google.com/storage/docs/tags-and-labels#bucket-labels

namespace {

constexpr size_t kLabelsMax = 64;
constexpr size_t kLabelCharactersMax = 63;
constexpr size_t kLabelBytesMax = 128;

bool IsLabelText(std::string_view text) {
  const auto allowed = [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c >= 0x80;
  };
  return IsUtf8(text) && text.size() <= kLabelBytesMax &&
         DecodeUtf8(text).size() <= kLabelCharactersMax &&
         std::all_of(text.begin(), text.end(), allowed);
}

bool IsLabelName(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.empty() ? '\0' : text.front());
  return IsLabelText(text) && ((first >= 'a' && first <= 'z') || first >= 0x80);
}

void CheckLabel(const std::string& key, const std::string& value, Violations* broken) {
  constexpr const char* kRule =
      "has at most 63 lowercase letters, digits, '-' and '_', or international characters, and at "
      "most 128 bytes";
  if (!IsLabelName(key)) {
    broken->AddRule("labels", "a key begins with a letter and " + std::string(kRule));
  }
  if (!IsLabelText(value)) {
    broken->AddRule("labels." + key, "a value " + std::string(kRule));
  }
}

}  // namespace

Status ApplyLabels(const Json& wanted, std::map<std::string, std::string>* labels) {
  const Json* value = Member(wanted, "labels");
  if (value == nullptr) return Ok{};
  if (value->is_null()) labels->clear();
  Violations broken;
  for (const auto& [key, label] : value->items()) {
    if (label.is_null()) {
      labels->erase(key);
      continue;
    }
    CheckLabel(key, label.get<std::string>(), &broken);
    (*labels)[key] = label.get<std::string>();
  }
  if (labels->size() > kLabelsMax) broken.AddRule("labels", "at most 64 are allowed");
  return broken.AsStatus();
}

// The lifecycle rules: https://cloud.google.com/storage/docs/lifecycle

namespace {

constexpr size_t kLifecycleRulesMax = 100;
constexpr size_t kLifecycleAffixesMax = 1000;
constexpr std::string_view kConditionsOfAborting[] = {"age", "matchesPrefix", "matchesSuffix"};

void CheckLifecycleAction(const Json& action, const std::string& path, Violations* broken) {
  const std::string type = StringOr(action, "type");
  const bool names_class = !StringOr(action, "storageClass").empty();
  if (type.empty()) {
    broken->AddRule(path + ".type", "an action needs a type");
  } else if (names_class != (type == "SetStorageClass")) {
    broken->AddRule(path + ".storageClass", names_class ? "only SetStorageClass has a storage class"
                                                        : "SetStorageClass needs a storage class");
  }
}

}  // namespace

void CheckLifecycleRule(const Json& rule, const std::string& path, Violations* broken) {
  const Json* action = Member(rule, "action");
  const Json* condition = Member(rule, "condition");
  if (action == nullptr) return broken->AddRule(path + ".action", "a rule needs an action");
  CheckLifecycleAction(*action, path + ".action", broken);
  if (condition == nullptr || condition->empty()) {
    return broken->AddRule(path + ".condition", "a rule needs a condition");
  }
  if (StringOr(*action, "type") != "AbortIncompleteMultipartUpload") return;
  for (const auto& [name, value] : condition->items()) {
    const auto* end = std::end(kConditionsOfAborting);
    if (std::find(std::begin(kConditionsOfAborting), end, name) != end) continue;
    broken->AddRule(path + ".condition." + name,
                    "AbortIncompleteMultipartUpload allows only age, matchesPrefix and "
                    "matchesSuffix");
  }
}

namespace {

const Json* LifecycleRules(const Json& settings) {
  const Json* lifecycle = Member(settings, "lifecycle");
  return lifecycle ? Member(*lifecycle, "rule") : nullptr;
}

// The prefixes and suffixes of a rule that has the right types.
size_t CountAffixes(const Json& rule) {
  const Json* condition = Member(rule, "condition");
  size_t count = 0;
  for (const char* name : {"matchesPrefix", "matchesSuffix"}) {
    const Json* listed = condition ? Member(*condition, name) : nullptr;
    count += listed ? listed->size() : 0;
  }
  return count;
}

Status CheckLifecycle(const Json& settings) {
  const Json* rules = LifecycleRules(settings);
  if (rules == nullptr || !rules->is_array()) return Ok{};
  Violations broken;
  if (rules->size() > kLifecycleRulesMax) {
    broken.AddRule("lifecycle.rule", "at most 100 rules are allowed");
  }
  size_t affixes = 0;
  for (size_t i = 0; i < rules->size(); ++i) {
    CheckLifecycleRule((*rules)[i], "lifecycle.rule[" + std::to_string(i) + "]", &broken);
    affixes += CountAffixes((*rules)[i]);
  }
  if (affixes > kLifecycleAffixesMax) {
    broken.AddRule("lifecycle.rule",
                   "matchesPrefix and matchesSuffix of all rules may have at "
                   "most 1000 entries, found " +
                       std::to_string(affixes));
  }
  return broken.AsStatus();
}

// Autoclass sets the storage classes of objects itself.
Status CheckLifecycleWithAutoclass(const Json& settings) {
  const Json* rules = LifecycleRules(settings);
  if (rules == nullptr || !rules->is_array()) return Ok{};
  for (const Json& rule : *rules) {
    const Json* action = Member(rule, "action");
    const Json* condition = Member(rule, "condition");
    const bool names_class =
        (action != nullptr && StringOr(*action, "type") == "SetStorageClass") ||
        (condition != nullptr && Member(*condition, "matchesStorageClass") != nullptr);
    if (names_class) {
      return errors::FieldInvalid("lifecycle",
                                  "a bucket with Autoclass has neither the action SetStorageClass "
                                  "nor the condition matchesStorageClass");
    }
  }
  return Ok{};
}

// https://cloud.google.com/storage/docs/autoclass
Status CompleteAutoclass(const Json& wanted, const std::string& class_before, Json* settings,
                         Bucket* bucket) {
  if (!settings->contains("autoclass")) return Ok{};
  Json& autoclass = (*settings)["autoclass"];
  if (!caip::IsTrue(autoclass, "enabled")) {
    autoclass.erase("terminalStorageClass");  // clients send back what they have read
    if (autoclass.empty()) settings->erase("autoclass");
    return Ok{};
  }
  if (StringOr(autoclass, "terminalStorageClass").empty()) {
    autoclass["terminalStorageClass"] = "NEARLINE";
  }
  const bool changes_class =
      Member(wanted, "storageClass") != nullptr && bucket->storage_class != class_before;
  if (changes_class && bucket->storage_class != kStandard) {
    return errors::ClassWithAutoclass(bucket->storage_class);
  }
  bucket->storage_class = kStandard;
  return CheckLifecycleWithAutoclass(*settings);
}

Status CheckDefaultKey(const Json& settings) {
  const Json* encryption = Member(settings, "encryption");
  const std::string key = encryption ? StringOr(*encryption, "defaultKmsKeyName") : "";
  return CheckKmsKeyName("encryption.defaultKmsKeyName", key);
}

Status CheckReplication(const Json& wanted, const Bucket& bucket, Json* settings) {
  const LocationType type = TypeOf(bucket, *settings);
  if (type == LocationType::kDualRegion || Member(wanted, "rpo") == nullptr) return Ok{};
  if (StringOr(*settings, "rpo") == "ASYNC_TURBO") {
    return errors::TurboReplicationUnavailable(type == LocationType::kRegion ? "REGION"
                                                                             : "MULTI_REGION");
  }
  if (type == LocationType::kRegion) settings->erase("rpo");
  return Ok{};
}

}  // namespace

Status CompleteSettings(const Json& wanted, const std::string& class_before, Json* settings,
                        Bucket* bucket) {
  if (Member(wanted, "lifecycle") != nullptr) RETURN_IF_ERROR(CheckLifecycle(*settings));
  if (Member(wanted, "encryption") != nullptr) RETURN_IF_ERROR(CheckDefaultKey(*settings));
  RETURN_IF_ERROR(CheckReplication(wanted, *bucket, settings));
  return CompleteAutoclass(wanted, class_before, settings, bucket);
}

}  // namespace caip::gcs
