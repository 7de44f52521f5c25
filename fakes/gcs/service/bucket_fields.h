#pragma once
// The fields of a bucket resource that a client may set, with their types and values, as the
// discovery document of storage/v1 lists them. Private to fakes/gcs/service.
// https://cloud.google.com/storage/docs/json_api/v1/buckets#resource-representations

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"

namespace caip::gcs {

enum class BucketFieldType { kText, kFlag, kInt32, kInt64, kDate, kMessage, kTextMap };

struct BucketMessage;

struct BucketField {
  const char* name;
  BucketFieldType type;
  bool is_list = false;
  const BucketMessage* message = nullptr;  // of kMessage
  // Of kText; empty: any text.
  std::span<const std::string_view> values = {};
  bool any_case = false;
  // Of kInt32 and kInt64.
  int64_t least = std::numeric_limits<int64_t>::min();
  int64_t most = std::numeric_limits<int64_t>::max();
};

struct BucketMessage {
  std::span<const BucketField> fields;
};

/// nullptr: a client may not set a field of that name.
const BucketField* FindBucketField(const BucketMessage& message, std::string_view name);

/// Checks the type and the value of a field, or of an entry of a list, at every depth.
/// kInvalidArgument names the field by its path.
Result<Json> ReadBucketValue(const Json& value, const BucketField& field, const std::string& path);

namespace bucket_fields {

using enum BucketFieldType;

// RAPID, the class of zonal buckets, is not emulated. ApplyBucketFields says so.
inline constexpr std::string_view kStorageClasses[] = {"STANDARD",
                                                       "NEARLINE",
                                                       "COLDLINE",
                                                       "ARCHIVE",
                                                       "MULTI_REGIONAL",
                                                       "REGIONAL",
                                                       "DURABLE_REDUCED_AVAILABILITY",
                                                       "RAPID"};
inline constexpr std::string_view kTerminalClasses[] = {"NEARLINE", "ARCHIVE"};
inline constexpr std::string_view kPreventions[] = {"inherited", "enforced", "unspecified"};
inline constexpr std::string_view kRestrictions[] = {"NotRestricted", "FullyRestricted"};
inline constexpr std::string_view kFilterModes[] = {"Enabled", "Disabled"};
inline constexpr std::string_view kActionTypes[] = {"Delete", "SetStorageClass",
                                                    "AbortIncompleteMultipartUpload"};
inline constexpr std::string_view kRetentionModes[] = {"Enabled"};
inline constexpr std::string_view kReplications[] = {"DEFAULT", "ASYNC_TURBO"};

inline constexpr int64_t kRetentionSecondsMax = 3'155'760'000;  // 100 years
inline constexpr int64_t kSoftDeleteSecondsMax = 90 * 86'400;

constexpr BucketField Of(const char* name, const BucketMessage& message) {
  return {.name = name, .type = BucketFieldType::kMessage, .message = &message};
}

constexpr BucketField OneOf(const char* name, std::span<const std::string_view> values) {
  return {.name = name, .type = kText, .values = values};
}

constexpr BucketField ClassField(const char* name) {
  return {.name = name, .type = kText, .values = kStorageClasses, .any_case = true};
}

constexpr BucketField NumberField(const char* name, BucketFieldType type, int64_t least,
                                  int64_t most) {
  return {.name = name, .type = type, .least = least, .most = most};
}

// A number that is not negative.
constexpr BucketField CountField(const char* name, BucketFieldType type = kInt32) {
  const bool is_short = type == kInt32;
  return NumberField(
      name, type, 0,
      is_short ? std::numeric_limits<int32_t>::max() : std::numeric_limits<int64_t>::max());
}

constexpr BucketField ListOf(BucketField field) {
  field.is_list = true;
  return field;
}

inline constexpr BucketField kEnabledFields[] = {{"enabled", kFlag}};
inline constexpr BucketMessage kEnabled{kEnabledFields};

inline constexpr BucketField kAccessFields[] = {{"entity", kText}, {"role", kText}};
inline constexpr BucketMessage kAccess{kAccessFields};

inline constexpr BucketField kAutoclassFields[] = {{"enabled", kFlag},
                                                   OneOf("terminalStorageClass", kTerminalClasses)};
inline constexpr BucketMessage kAutoclass{kAutoclassFields};

inline constexpr BucketField kBillingFields[] = {{"requesterPays", kFlag}};
inline constexpr BucketMessage kBilling{kBillingFields};

inline constexpr BucketField kCorsFields[] = {
    CountField("maxAgeSeconds"),
    ListOf({"method", kText}),
    ListOf({"origin", kText}),
    ListOf({"responseHeader", kText}),
};
inline constexpr BucketMessage kCors{kCorsFields};

inline constexpr BucketField kPlacementFields[] = {ListOf({"dataLocations", kText})};
inline constexpr BucketMessage kPlacement{kPlacementFields};

inline constexpr BucketField kEnforcementFields[] = {OneOf("restrictionMode", kRestrictions)};
inline constexpr BucketMessage kEnforcement{kEnforcementFields};

inline constexpr BucketField kEncryptionFields[] = {
    {"defaultKmsKeyName", kText},
    Of("customerManagedEncryptionEnforcementConfig", kEnforcement),
    Of("customerSuppliedEncryptionEnforcementConfig", kEnforcement),
    Of("googleManagedEncryptionEnforcementConfig", kEnforcement),
};
inline constexpr BucketMessage kEncryption{kEncryptionFields};

inline constexpr BucketField kIamFields[] = {
    Of("bucketPolicyOnly", kEnabled),
    Of("uniformBucketLevelAccess", kEnabled),
    OneOf("publicAccessPrevention", kPreventions),
};
inline constexpr BucketMessage kIam{kIamFields};

inline constexpr BucketField kPublicSourceFields[] = {ListOf({"allowedIpCidrRanges", kText})};
inline constexpr BucketMessage kPublicSource{kPublicSourceFields};

inline constexpr BucketField kVpcSourceFields[] = {
    {"network", kText},
    ListOf({"allowedIpCidrRanges", kText}),
};
inline constexpr BucketMessage kVpcSource{kVpcSourceFields};

inline constexpr BucketField kIpFilterFields[] = {
    OneOf("mode", kFilterModes),
    {"allowAllServiceAgentAccess", kFlag},
    {"allowCrossOrgVpcs", kFlag},
    Of("publicNetworkSource", kPublicSource),
    ListOf(Of("vpcNetworkSources", kVpcSource)),
};
inline constexpr BucketMessage kIpFilter{kIpFilterFields};

inline constexpr BucketField kActionFields[] = {OneOf("type", kActionTypes),
                                                ClassField("storageClass")};
inline constexpr BucketMessage kAction{kActionFields};

inline constexpr BucketField kConditionFields[] = {
    CountField("age"),
    {"createdBefore", kDate},
    {"customTimeBefore", kDate},
    CountField("daysSinceCustomTime"),
    CountField("daysSinceNoncurrentTime"),
    {"isLive", kFlag},
    {"matchesPattern", kText},
    ListOf({"matchesPrefix", kText}),
    ListOf(ClassField("matchesStorageClass")),
    ListOf({"matchesSuffix", kText}),
    {"noncurrentTimeBefore", kDate},
    CountField("numNewerVersions"),
    CountField("sizeAboveBytes", kInt64),
    CountField("sizeBelowBytes", kInt64),
};
inline constexpr BucketMessage kCondition{kConditionFields};

inline constexpr BucketField kRuleFields[] = {Of("action", kAction), Of("condition", kCondition)};
inline constexpr BucketMessage kRule{kRuleFields};

inline constexpr BucketField kLifecycleFields[] = {ListOf(Of("rule", kRule))};
inline constexpr BucketMessage kLifecycle{kLifecycleFields};

inline constexpr BucketField kLoggingFields[] = {{"logBucket", kText}, {"logObjectPrefix", kText}};
inline constexpr BucketMessage kLogging{kLoggingFields};

inline constexpr BucketField kObjectRetentionFields[] = {OneOf("mode", kRetentionModes)};
inline constexpr BucketMessage kObjectRetention{kObjectRetentionFields};

inline constexpr BucketField kRetentionFields[] = {
    NumberField("retentionPeriod", kInt64, 1, kRetentionSecondsMax)};
inline constexpr BucketMessage kRetention{kRetentionFields};

inline constexpr BucketField kSoftDeleteFields[] = {
    NumberField("retentionDurationSeconds", kInt64, 0, kSoftDeleteSecondsMax),
    Of("hardDeletePause", kEnabled),
};
inline constexpr BucketMessage kSoftDelete{kSoftDeleteFields};

inline constexpr BucketField kWebsiteFields[] = {{"mainPageSuffix", kText},
                                                 {"notFoundPage", kText}};
inline constexpr BucketMessage kWebsite{kWebsiteFields};

inline constexpr BucketField kBucketFields[] = {
    {"name", kText},
    {"location", kText},
    ClassField("storageClass"),
    {"labels", kTextMap},
    ListOf(Of("acl", kAccess)),
    ListOf(Of("defaultObjectAcl", kAccess)),
    Of("autoclass", kAutoclass),
    Of("billing", kBilling),
    ListOf(Of("cors", kCors)),
    Of("customPlacementConfig", kPlacement),
    {"defaultEventBasedHold", kFlag},
    Of("encryption", kEncryption),
    Of("hierarchicalNamespace", kEnabled),
    Of("iamConfiguration", kIam),
    Of("ipFilter", kIpFilter),
    Of("lifecycle", kLifecycle),
    Of("logging", kLogging),
    Of("objectRetention", kObjectRetention),
    Of("retentionPolicy", kRetention),
    {.name = "rpo", .type = kText, .values = kReplications, .any_case = true},
    Of("softDeletePolicy", kSoftDelete),
    Of("versioning", kEnabled),
    Of("website", kWebsite),
};
inline constexpr BucketMessage kBucket{kBucketFields};

}  // namespace bucket_fields

}  // namespace caip::gcs
