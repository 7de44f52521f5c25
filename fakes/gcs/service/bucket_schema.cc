#include "fakes/gcs/service/bucket_schema.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/quoting.h"
#include "base/text.h"
#include "base/time_text.h"
#include "fakes/gcs/errors.h"

namespace caip::gcs {
namespace {

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

namespace bucket_fields {

using enum BucketFieldType;

// RAPID, the class of zonal buckets, is not emulated. ApplyBucketFields says so.
constexpr std::string_view kStorageClasses[] = {"STANDARD",
                                                "NEARLINE",
                                                "COLDLINE",
                                                "ARCHIVE",
                                                "MULTI_REGIONAL",
                                                "REGIONAL",
                                                "DURABLE_REDUCED_AVAILABILITY",
                                                "RAPID"};
constexpr std::string_view kTerminalClasses[] = {"NEARLINE", "ARCHIVE"};
constexpr std::string_view kPreventions[] = {"inherited", "enforced", "unspecified"};
constexpr std::string_view kRestrictions[] = {"NotRestricted", "FullyRestricted"};
constexpr std::string_view kFilterModes[] = {"Enabled", "Disabled"};
constexpr std::string_view kActionTypes[] = {"Delete", "SetStorageClass",
                                             "AbortIncompleteMultipartUpload"};
constexpr std::string_view kRetentionModes[] = {"Enabled"};
constexpr std::string_view kReplications[] = {"DEFAULT", "ASYNC_TURBO"};

constexpr int64_t kRetentionSecondsMax = 3'155'760'000;  // 100 years
constexpr int64_t kSoftDeleteSecondsMax = 90 * 86'400;

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

constexpr BucketField kEnabledFields[] = {{"enabled", kFlag}};
constexpr BucketMessage kEnabled{kEnabledFields};

constexpr BucketField kAccessFields[] = {{"entity", kText}, {"role", kText}};
constexpr BucketMessage kAccess{kAccessFields};

constexpr BucketField kAutoclassFields[] = {{"enabled", kFlag},
                                            OneOf("terminalStorageClass", kTerminalClasses)};
constexpr BucketMessage kAutoclass{kAutoclassFields};

constexpr BucketField kBillingFields[] = {{"requesterPays", kFlag}};
constexpr BucketMessage kBilling{kBillingFields};

constexpr BucketField kCorsFields[] = {
    CountField("maxAgeSeconds"),
    ListOf({"method", kText}),
    ListOf({"origin", kText}),
    ListOf({"responseHeader", kText}),
};
constexpr BucketMessage kCors{kCorsFields};

constexpr BucketField kPlacementFields[] = {ListOf({"dataLocations", kText})};
constexpr BucketMessage kPlacement{kPlacementFields};

constexpr BucketField kEnforcementFields[] = {OneOf("restrictionMode", kRestrictions)};
constexpr BucketMessage kEnforcement{kEnforcementFields};

constexpr BucketField kEncryptionFields[] = {
    {"defaultKmsKeyName", kText},
    Of("customerManagedEncryptionEnforcementConfig", kEnforcement),
    Of("customerSuppliedEncryptionEnforcementConfig", kEnforcement),
    Of("googleManagedEncryptionEnforcementConfig", kEnforcement),
};
constexpr BucketMessage kEncryption{kEncryptionFields};

constexpr BucketField kIamFields[] = {
    Of("bucketPolicyOnly", kEnabled),
    Of("uniformBucketLevelAccess", kEnabled),
    OneOf("publicAccessPrevention", kPreventions),
};
constexpr BucketMessage kIam{kIamFields};

constexpr BucketField kPublicSourceFields[] = {ListOf({"allowedIpCidrRanges", kText})};
constexpr BucketMessage kPublicSource{kPublicSourceFields};

constexpr BucketField kVpcSourceFields[] = {
    {"network", kText},
    ListOf({"allowedIpCidrRanges", kText}),
};
constexpr BucketMessage kVpcSource{kVpcSourceFields};

constexpr BucketField kIpFilterFields[] = {
    OneOf("mode", kFilterModes),
    {"allowAllServiceAgentAccess", kFlag},
    {"allowCrossOrgVpcs", kFlag},
    Of("publicNetworkSource", kPublicSource),
    ListOf(Of("vpcNetworkSources", kVpcSource)),
};
constexpr BucketMessage kIpFilter{kIpFilterFields};

constexpr BucketField kActionFields[] = {OneOf("type", kActionTypes), ClassField("storageClass")};
constexpr BucketMessage kAction{kActionFields};

constexpr BucketField kConditionFields[] = {
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
constexpr BucketMessage kCondition{kConditionFields};

constexpr BucketField kRuleFields[] = {Of("action", kAction), Of("condition", kCondition)};
constexpr BucketMessage kRule{kRuleFields};

constexpr BucketField kLifecycleFields[] = {ListOf(Of("rule", kRule))};
constexpr BucketMessage kLifecycle{kLifecycleFields};

constexpr BucketField kLoggingFields[] = {{"logBucket", kText}, {"logObjectPrefix", kText}};
constexpr BucketMessage kLogging{kLoggingFields};

constexpr BucketField kObjectRetentionFields[] = {OneOf("mode", kRetentionModes)};
constexpr BucketMessage kObjectRetention{kObjectRetentionFields};

constexpr BucketField kRetentionFields[] = {
    NumberField("retentionPeriod", kInt64, 1, kRetentionSecondsMax)};
constexpr BucketMessage kRetention{kRetentionFields};

constexpr BucketField kSoftDeleteFields[] = {
    NumberField("retentionDurationSeconds", kInt64, 0, kSoftDeleteSecondsMax),
    Of("hardDeletePause", kEnabled),
};
constexpr BucketMessage kSoftDelete{kSoftDeleteFields};

constexpr BucketField kWebsiteFields[] = {{"mainPageSuffix", kText}, {"notFoundPage", kText}};
constexpr BucketMessage kWebsite{kWebsiteFields};

constexpr BucketField kBucketFields[] = {
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
constexpr BucketMessage kBucket{kBucketFields};

}  // namespace bucket_fields

// A number without a fraction, or its text.
std::optional<int64_t> ReadWholeNumber(const Json& value) {
  constexpr double kExactMax = 0x1p53;
  if (value.is_number_unsigned() &&
      value.get<uint64_t>() > uint64_t{std::numeric_limits<int64_t>::max()}) {
    return std::nullopt;
  }
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_number_float()) {
    const double number = value.get<double>();
    const bool whole = std::nearbyint(number) == number && std::fabs(number) < kExactMax;
    return whole ? std::optional(static_cast<int64_t>(number)) : std::nullopt;
  }
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, number);
  if (code != std::errc() || rest != end) return std::nullopt;
  return number;
}

bool IsInt32(int64_t number) {
  return number >= std::numeric_limits<int32_t>::min() &&
         number <= std::numeric_limits<int32_t>::max();
}

// "2013-01-15"
bool IsDateText(const Json& value) {
  constexpr size_t kLength = 10;
  if (!value.is_string()) return false;
  const auto& text = value.get_ref<const std::string&>();
  return text.size() == kLength && ParseRfc3339(text + "T00:00:00Z").has_value();
}

// "" has the meaning of null if only certain texts are allowed.
Result<Json> ReadBucketText(const Json& value, const BucketField& field, const std::string& path) {
  if (!value.is_string()) return errors::FieldInvalid(path, "expected a string");
  const auto& given = value.get_ref<const std::string&>();
  if (field.values.empty()) return value;
  if (given.empty()) return Json();
  std::string text = field.any_case ? UpperCase(given) : given;
  for (const std::string_view known : field.values) {
    if (text == known) return Json(std::move(text));
  }
  const std::vector<std::string> known(field.values.begin(), field.values.end());
  const std::string shown = Quoted(given);  // gsutil shows this text, without the quotes
  return errors::FieldInvalid(path, shown.substr(1, shown.size() - 2) +
                                        " is not a valid value; use one of " + Join(known, ", "));
}

Result<Json> ReadBucketNumber(const Json& value, const BucketField& field,
                              const std::string& path) {
  const bool is_short = field.type == BucketFieldType::kInt32;
  const auto number = ReadWholeNumber(value);
  if (!number || (is_short && !IsInt32(*number))) {
    return errors::FieldInvalid(
        path, is_short ? "expected a 32-bit integer" : "expected a 64-bit integer");
  }
  if (*number < field.least || *number > field.most) {
    return errors::FieldInvalid(path, "expected a number from " + std::to_string(field.least) +
                                          " to " + std::to_string(field.most));
  }
  return is_short ? Json(*number) : Json(std::to_string(*number));
}

Result<Json> ReadBucketMap(const Json& value, const std::string& path) {
  if (!value.is_object()) return errors::FieldInvalid(path, "expected an object of strings");
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string() && !text.is_null()) {
      return errors::FieldInvalid(path + "." + key, "expected a string");
    }
  }
  return value;
}

Result<Json> ReadBucketMessage(const Json& value, const BucketMessage& message,
                               const std::string& path);

Result<Json> ReadBucketValue(const Json& value, const BucketField& field, const std::string& path) {
  using enum BucketFieldType;
  switch (field.type) {
    case kText:
      return ReadBucketText(value, field, path);
    case kFlag:
      if (value.is_boolean()) return value;
      return errors::FieldInvalid(path, "expected true or false");
    case kInt32:
    case kInt64:
      return ReadBucketNumber(value, field, path);
    case kDate:
      if (IsDateText(value)) return value;
      return errors::FieldInvalid(path, "expected a date such as 2013-01-15");
    case kTextMap:
      return ReadBucketMap(value, path);
    case kMessage:
      break;
  }
  return ReadBucketMessage(value, *field.message, path);
}

// A list is replaced as a whole, so that a null or an empty list in its entries has no effect.
void DropEmptyMembers(Json* entry) {
  if (!entry->is_object()) return;
  Json kept = Json::object();
  for (auto& [name, member] : entry->items()) {
    DropEmptyMembers(&member);
    if (!member.is_null() && member != Json::array()) kept[name] = std::move(member);
  }
  *entry = std::move(kept);
}

Result<Json> ReadBucketList(const Json& value, const BucketField& field, const std::string& path) {
  if (!value.is_array()) return errors::FieldInvalid(path, "expected a list");
  Json read = Json::array();
  for (const Json& entry : value) {
    const std::string place = path + "[" + std::to_string(read.size()) + "]";
    ASSIGN_OR_RETURN(Json one, ReadBucketValue(entry, field, place));
    if (one.is_null()) return errors::FieldInvalid(place, "expected a value");
    DropEmptyMembers(&one);
    read.push_back(std::move(one));
  }
  return read;
}

const BucketField* FindBucketField(const BucketMessage& message, std::string_view name) {
  for (const BucketField& field : message.fields) {
    if (name == field.name) return &field;
  }
  return nullptr;
}

Result<Json> ReadBucketMessage(const Json& value, const BucketMessage& message,
                               const std::string& path) {
  if (!value.is_object()) return errors::FieldInvalid(path, "expected an object");
  Json read = Json::object();
  for (const auto& [name, member] : value.items()) {
    const BucketField* field = FindBucketField(message, name);
    if (field == nullptr) continue;
    if (member.is_null()) {
      read[name] = nullptr;
      continue;
    }
    const std::string place = path.empty() ? name : path + "." + name;
    ASSIGN_OR_RETURN(Json one, field->is_list ? ReadBucketList(member, *field, place)
                                              : ReadBucketValue(member, *field, place));
    read[name] = std::move(one);
  }
  return read;
}

}  // namespace

bool IsStorageClass(std::string_view name) {
  const std::string upper = UpperCase(name);
  const auto& known = bucket_fields::kStorageClasses;
  return std::find(std::begin(known), std::end(known), upper) != std::end(known);
}

Result<Json> ReadBucketResource(const Json& resource) {
  if (!resource.is_object()) return errors::BodyInvalid("expected a JSON object");
  return ReadBucketMessage(resource, bucket_fields::kBucket, "");
}

}  // namespace caip::gcs
