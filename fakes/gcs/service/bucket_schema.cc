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
#include "fakes/gcs/service/bucket_fields.h"

namespace caip::gcs {
namespace {

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

}  // namespace

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

namespace {

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

const BucketField* FindBucketField(const BucketMessage& message, std::string_view name) {
  for (const BucketField& field : message.fields) {
    if (name == field.name) return &field;
  }
  return nullptr;
}

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
