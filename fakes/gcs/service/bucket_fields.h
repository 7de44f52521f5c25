#pragma once
// The fields of a bucket that a client may set. Private to fakes/gcs/service.
// https://cloud.google.com/storage/docs/json_api/v1/buckets#resource-representations

#include <cstdint>
#include <string_view>

#include "fakes/gcs/service/access_fields.h"
#include "fakes/gcs/service/resource_fields.h"

namespace caip::gcs {

namespace resource_fields {

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

constexpr ResourceField ClassField(const char* name) {
  return {.name = name, .type = kText, .values = kStorageClasses, .any_case = true};
}

inline constexpr ResourceField kEnabledFields[] = {{"enabled", kFlag}};
inline constexpr ResourceMessage kEnabled{kEnabledFields};

inline constexpr ResourceField kAutoclassFields[] = {
    {"enabled", kFlag}, OneOf("terminalStorageClass", kTerminalClasses)};
inline constexpr ResourceMessage kAutoclass{kAutoclassFields};

inline constexpr ResourceField kBillingFields[] = {{"requesterPays", kFlag}};
inline constexpr ResourceMessage kBilling{kBillingFields};

inline constexpr ResourceField kCorsFields[] = {
    CountField("maxAgeSeconds"),
    ListOf({"method", kText}),
    ListOf({"origin", kText}),
    ListOf({"responseHeader", kText}),
};
inline constexpr ResourceMessage kCors{kCorsFields};

inline constexpr ResourceField kPlacementFields[] = {ListOf({"dataLocations", kText})};
inline constexpr ResourceMessage kPlacement{kPlacementFields};

inline constexpr ResourceField kEnforcementFields[] = {OneOf("restrictionMode", kRestrictions)};
inline constexpr ResourceMessage kEnforcement{kEnforcementFields};

inline constexpr ResourceField kEncryptionFields[] = {
    {"defaultKmsKeyName", kText},
    Of("customerManagedEncryptionEnforcementConfig", kEnforcement),
    Of("customerSuppliedEncryptionEnforcementConfig", kEnforcement),
    Of("googleManagedEncryptionEnforcementConfig", kEnforcement),
};
inline constexpr ResourceMessage kEncryption{kEncryptionFields};

inline constexpr ResourceField kIamFields[] = {
    Of("bucketPolicyOnly", kEnabled),
    Of("uniformBucketLevelAccess", kEnabled),
    OneOf("publicAccessPrevention", kPreventions),
};
inline constexpr ResourceMessage kIam{kIamFields};

inline constexpr ResourceField kPublicSourceFields[] = {ListOf({"allowedIpCidrRanges", kText})};
inline constexpr ResourceMessage kPublicSource{kPublicSourceFields};

inline constexpr ResourceField kVpcSourceFields[] = {
    {"network", kText},
    ListOf({"allowedIpCidrRanges", kText}),
};
inline constexpr ResourceMessage kVpcSource{kVpcSourceFields};

inline constexpr ResourceField kIpFilterFields[] = {
    OneOf("mode", kFilterModes),
    {"allowAllServiceAgentAccess", kFlag},
    {"allowCrossOrgVpcs", kFlag},
    Of("publicNetworkSource", kPublicSource),
    ListOf(Of("vpcNetworkSources", kVpcSource)),
};
inline constexpr ResourceMessage kIpFilter{kIpFilterFields};

inline constexpr ResourceField kActionFields[] = {OneOf("type", kActionTypes),
                                                  ClassField("storageClass")};
inline constexpr ResourceMessage kAction{kActionFields};

inline constexpr ResourceField kConditionFields[] = {
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
inline constexpr ResourceMessage kCondition{kConditionFields};

inline constexpr ResourceField kRuleFields[] = {Of("action", kAction), Of("condition", kCondition)};
inline constexpr ResourceMessage kRule{kRuleFields};

inline constexpr ResourceField kLifecycleFields[] = {ListOf(Of("rule", kRule))};
inline constexpr ResourceMessage kLifecycle{kLifecycleFields};

inline constexpr ResourceField kLoggingFields[] = {{"logBucket", kText},
                                                   {"logObjectPrefix", kText}};
inline constexpr ResourceMessage kLogging{kLoggingFields};

inline constexpr ResourceField kObjectRetentionFields[] = {OneOf("mode", kRetentionModes)};
inline constexpr ResourceMessage kObjectRetention{kObjectRetentionFields};

inline constexpr ResourceField kRetentionFields[] = {
    NumberField("retentionPeriod", kInt64, 1, kRetentionSecondsMax)};
inline constexpr ResourceMessage kRetention{kRetentionFields};

inline constexpr ResourceField kSoftDeleteFields[] = {
    NumberField("retentionDurationSeconds", kInt64, 0, kSoftDeleteSecondsMax),
    Of("hardDeletePause", kEnabled),
};
inline constexpr ResourceMessage kSoftDelete{kSoftDeleteFields};

inline constexpr ResourceField kWebsiteFields[] = {{"mainPageSuffix", kText},
                                                   {"notFoundPage", kText}};
inline constexpr ResourceMessage kWebsite{kWebsiteFields};

inline constexpr ResourceField kBucketFields[] = {
    {"name", kText},
    {"location", kText},
    ClassField("storageClass"),
    {"labels", kTextMap},
    AtMost(kEntriesMax, ListOf(Of("acl", kBucketAccess))),
    AtMost(kEntriesMax, ListOf(Of("defaultObjectAcl", kObjectAccess))),
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
inline constexpr ResourceMessage kBucket{kBucketFields};

}  // namespace resource_fields

}  // namespace caip::gcs
