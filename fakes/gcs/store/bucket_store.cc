
#include "fakes/gcs/store/bucket_store.h"

#include <algorithm>

#include "base/json.h"
#include "base/time_text.h"
#include "fakes/gcs/calendar_time.h"
#include "fakes/gcs/errors.h"

namespace caip::gcs {

Result<Bucket> BucketStore::CreateBucket(const std::string& name) {
  Bucket bucket;
  bucket.name = name;
  return CreateBucket(bucket);
}

Status ObjectWriter::AppendFrom(ObjectReader& source, uint64_t offset, uint64_t length) {
  constexpr size_t kPieceBytes = 1 << 20;
  std::vector<char> piece(std::min<uint64_t>(kPieceBytes, length));
  while (length > 0) {
    const size_t wanted = static_cast<size_t>(std::min<uint64_t>(piece.size(), length));
    ASSIGN_OR_RETURN(const size_t count, source.ReadAt(offset, piece.data(), wanted));
    if (count == 0) return errors::ObjectNotFound(source.info().bucket, source.info().name);
    RETURN_IF_ERROR(Append({piece.data(), count}));
    offset += count;
    length -= count;
  }
  return Ok{};
}

Status CheckPreconditions(const Preconditions& preconditions, const ObjectInfo* live) {
  struct Condition {
    const char* name;
    const std::optional<int64_t>& wanted;
    int64_t found;
    bool equal;
  };
  // A missing object has generation 0, so ifGenerationNotMatch=0 requires that it exists.
  const int64_t generation = live ? live->generation : 0;
  const int64_t metageneration = live ? live->metageneration : 0;
  const Condition conditions[] = {
      {"ifGenerationMatch", preconditions.if_generation_match, generation, true},
      {"ifGenerationNotMatch", preconditions.if_generation_not_match, generation, false},
      {"ifMetagenerationMatch", preconditions.if_metageneration_match, metageneration, true},
      {"ifMetagenerationNotMatch", preconditions.if_metageneration_not_match, metageneration,
       false},
  };
  for (const Condition& condition : conditions) {
    if (!condition.wanted) continue;
    if ((*condition.wanted == condition.found) != condition.equal) {
      return errors::ConditionNotMet(condition.name, *condition.wanted, condition.found);
    }
  }
  return Ok{};
}

Status CheckMetagenerationConditions(const Preconditions& preconditions, int64_t metageneration) {
  ObjectInfo as_object;
  as_object.metageneration = metageneration;
  return CheckPreconditions(
      {.if_metageneration_match = preconditions.if_metageneration_match,
       .if_metageneration_not_match = preconditions.if_metageneration_not_match},
      &as_object);
}

namespace {

constexpr long long kSecondsMax = 100LL * 366 * 86'400;  // a policy's longest period: 100 years

bool IsOn(const Json& settings, std::string_view name, std::string_view member) {
  const Json* found = Member(settings, name);
  const Json* value = found ? Member(*found, member) : nullptr;
  return value != nullptr && *value == true;
}

Duration SecondsOf(const Json& settings, std::string_view name, std::string_view member) {
  const Json* found = Member(settings, name);
  if (found == nullptr) return Duration(0);
  const long long seconds = IntOr(*found, member, 0);
  return std::chrono::seconds(std::clamp(seconds, 0LL, kSecondsMax));
}

}  // namespace

BucketRules RulesOf(const Bucket& bucket) {
  BucketRules rules;
  rules.default_storage_class = bucket.storage_class;
  if (bucket.settings.empty()) return rules;
  const auto settings = ParseJson(bucket.settings);
  if (!settings.ok()) return rules;
  rules.versioning = IsOn(*settings, "versioning", "enabled");
  const Json* retention = Member(*settings, "objectRetention");
  rules.object_retention = retention != nullptr && StringOr(*retention, "mode") == "Enabled";
  rules.autoclass = IsOn(*settings, "autoclass", "enabled");
  rules.soft_delete = SecondsOf(*settings, "softDeletePolicy", "retentionDurationSeconds");
  rules.retention = SecondsOf(*settings, "retentionPolicy", "retentionPeriod");
  rules.retention_locked = IsOn(*settings, "retentionPolicy", "isLocked");
  const Json* hold = Member(*settings, "defaultEventBasedHold");
  rules.default_event_based_hold = hold != nullptr && *hold == true;
  if (const Json* encryption = Member(*settings, "encryption")) {
    rules.default_kms_key = StringOr(*encryption, "defaultKmsKeyName");
  }
  if (const Json* iam = Member(*settings, "iamConfiguration")) {
    rules.uniform_access = IsOn(*iam, "uniformBucketLevelAccess", "enabled");
    rules.public_access_prevented = StringOr(*iam, "publicAccessPrevention") == "enforced";
  }
  return rules;
}

namespace {

// A time that changes with another member of its object. A member that gets its default value for
// the first time changes nothing.
struct StampedTime {
  const char* setting;
  const char* member;
  const char* time;
  const char* default_value = nullptr;
};
constexpr const char* kUnrestricted = "NotRestricted";
constexpr StampedTime kStampedTimes[] = {
    {"/retentionPolicy", "retentionPeriod", "effectiveTime"},
    {"/softDeletePolicy", "retentionDurationSeconds", "effectiveTime"},
    {"/autoclass", "enabled", "toggleTime"},
    {"/autoclass", "terminalStorageClass", "terminalStorageClassUpdateTime"},
    {"/encryption/customerManagedEncryptionEnforcementConfig", "restrictionMode", "effectiveTime",
     kUnrestricted},
    {"/encryption/customerSuppliedEncryptionEnforcementConfig", "restrictionMode", "effectiveTime",
     kUnrestricted},
    {"/encryption/googleManagedEncryptionEnforcementConfig", "restrictionMode", "effectiveTime",
     kUnrestricted},
};

constexpr const char* kUniformAccess[] = {"/iamConfiguration/uniformBucketLevelAccess",
                                          "/iamConfiguration/bucketPolicyOnly"};
constexpr Duration kUniformAccessRevocable = std::chrono::hours(24 * 90);

// The object at the pointer; nullptr if there is none.
Json* SettingAt(const char* pointer, Json* settings) {
  const Json::json_pointer place(pointer);
  if (!settings->contains(place)) return nullptr;
  Json& found = (*settings)[place];
  return found.is_object() ? &found : nullptr;
}

bool IsStillDefault(const StampedTime& stamped, const Json* before, const Json& value) {
  return stamped.default_value != nullptr && value == stamped.default_value &&
         (before == nullptr || *before == value);
}

// `previous`: the object before the change, or nullptr.
void StampTime(const StampedTime& stamped, const Json* previous, Instant now, Json* object) {
  const Json* value = Member(*object, stamped.member);
  const Json* before = previous ? Member(*previous, stamped.member) : nullptr;
  const std::string kept = previous ? StringOr(*previous, stamped.time) : "";
  if (value == nullptr || (kept.empty() && IsStillDefault(stamped, before, *value))) {
    object->erase(stamped.time);
    return;
  }
  const bool same = before != nullptr && *before == *value && !kept.empty();
  (*object)[stamped.time] = same ? kept : Rfc3339(now, 3);
}

void StampLockedTime(const Json* previous, Instant now, Json* access) {
  if (!IsTrue(*access, "enabled")) {
    access->erase("lockedTime");
    return;
  }
  const bool was_on = previous != nullptr && IsTrue(*previous, "enabled");
  const std::string kept = was_on ? StringOr(*previous, "lockedTime") : "";
  (*access)["lockedTime"] = kept.empty() ? Rfc3339(now + kUniformAccessRevocable, 3) : kept;
}

// Keeps the times of settings that are the same as before.
void StampChanges(const std::string& before, Instant now, Bucket* bucket) {
  if (bucket->settings.empty()) return;
  auto settings = ParseJson(bucket->settings);
  auto old = ParseJson(before);
  if (!settings.ok()) return;
  if (!old.ok()) old = Json::object();
  for (const StampedTime& stamped : kStampedTimes) {
    Json* object = SettingAt(stamped.setting, &*settings);
    if (object) StampTime(stamped, SettingAt(stamped.setting, &*old), now, object);
  }
  for (const char* pointer : kUniformAccess) {
    Json* access = SettingAt(pointer, &*settings);
    if (access) StampLockedTime(SettingAt(pointer, &*old), now, access);
  }
  bucket->settings = CompactJson(*settings);
}

}  // namespace

Status CheckUniformAccessKept(const Bucket& before, const Bucket& wanted, Instant now) {
  if (!RulesOf(before).uniform_access || RulesOf(wanted).uniform_access) return Ok{};
  auto settings = ParseJson(before.settings);
  const Json* access = settings.ok() ? SettingAt(kUniformAccess[0], &*settings) : nullptr;
  const auto locked = access ? ParseRfc3339(StringOr(*access, "lockedTime")) : std::nullopt;
  if (!locked || now < *locked) return Ok{};
  return errors::UniformAccessLocked(wanted.name, Rfc3339(*locked));
}

void StampSettings(const Bucket& before, Instant now, Bucket* bucket) {
  if (bucket->settings != before.settings) StampChanges(before.settings, now, bucket);
}

void AddMissingStamps(Instant since, Bucket* bucket) {
  StampChanges(bucket->settings, since, bucket);
}

std::optional<Instant> RetentionEnd(const BucketRules& rules, const ObjectInfo& info) {
  if (rules.retention == Duration(0) || info.event_based_hold) return std::nullopt;
  return std::max(info.time_created, info.retained_since) + rules.retention;
}

Status CheckDeletable(const BucketRules& rules, const ObjectInfo& info, Instant now) {
  const std::string object = info.bucket + "/" + info.name;
  if (info.temporary_hold || info.event_based_hold) {
    return errors::ObjectHeld(object, info.temporary_hold ? "temporaryHold" : "eventBasedHold");
  }
  const auto until = RetentionEnd(rules, info);
  std::optional<CalendarTime> last;
  if (until) last = std::chrono::ceil<std::chrono::milliseconds>(*until);
  if (!info.retention.empty()) {
    const auto own = ParseJson(info.retention);
    const auto end = ParseCalendarTime(own.ok() ? StringOr(*own, "retainUntilTime") : "");
    if (end) last = std::max(last.value_or(CalendarTime::min()), *end);
  }
  if (!last || now >= NearestInstant(*last)) return Ok{};
  const Instant end = NearestInstant(*last);
  return errors::RetentionNotMet(object,
                                 end < Instant::max() ? Rfc3339(end, 3) : CalendarText(*last));
}

}  // namespace caip::gcs
