#include "fakes/gcs/service/resource_fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/quoting.h"
#include "base/text.h"
#include "fakes/gcs/calendar_time.h"
#include "fakes/gcs/errors.h"

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
  return text.size() == kLength && ParseCalendarTime(text + "T00:00:00Z").has_value();
}

// A value in a message: "7", "a list".
std::string Shown(const Json& value) {
  constexpr size_t kShownMax = 40;
  if (value.is_array()) return "a list";
  if (value.is_object()) return "an object";
  if (!value.is_string()) return CompactJson(value);
  const auto& text = value.get_ref<const std::string&>();
  return text.size() <= kShownMax ? Quoted(text)
                                  : "a text of " + std::to_string(text.size()) + " bytes";
}

Json Misfit(const Json& value, std::string_view wanted, const std::string& path,
            Violations* broken) {
  broken->AddRule(path, "expected " + std::string(wanted) + ", found " + Shown(value));
  return {};
}

// "" has the meaning of null if only certain texts are allowed.
Json ReadText(const Json& value, const ResourceField& field, const std::string& path,
              Violations* broken) {
  if (!value.is_string()) return Misfit(value, "a string", path, broken);
  const auto& given = value.get_ref<const std::string&>();
  if (field.check) {
    if (std::string rule = field.check(given); !rule.empty()) broken->AddRule(path, rule);
    return value;
  }
  if (field.values.empty()) return value;
  if (given.empty()) return {};
  std::string text = field.any_case ? UpperCase(given) : given;
  for (const std::string_view known : field.values) {
    if (text == known) return Json(std::move(text));
  }
  const std::vector<std::string> known(field.values.begin(), field.values.end());
  const std::string shown = Quoted(given);  // gsutil shows this text, without the quotes
  broken->AddRule(path, shown.substr(1, shown.size() - 2) + " is not a valid value; use one of " +
                            Join(known, ", "));
  return {};
}

Json ReadNumber(const Json& value, const ResourceField& field, const std::string& path,
                Violations* broken) {
  const bool is_short = field.type == FieldType::kInt32;
  const auto number = ReadWholeNumber(value);
  if (!number || (is_short && !IsInt32(*number))) {
    return Misfit(value, is_short ? "a 32-bit integer" : "a 64-bit integer", path, broken);
  }
  if (*number < field.least || *number > field.most) {
    return Misfit(
        value, "a number from " + std::to_string(field.least) + " to " + std::to_string(field.most),
        path, broken);
  }
  return is_short ? Json(*number) : Json(std::to_string(*number));
}

// The service answers with times in UTC, in whatever form it gets them.
Json ReadTime(const Json& value, const std::string& path, Violations* broken) {
  if (value == "") return {};  // the same as null
  const auto time =
      value.is_string() ? ParseCalendarTime(value.get_ref<const std::string&>()) : std::nullopt;
  return time ? Json(CalendarText(*time)) : Misfit(value, "an RFC 3339 time", path, broken);
}

// Checks the number of entries before anything is done for each of them.
bool FitsEntries(const Json& value, const ResourceField& field, const std::string& path,
                 Violations* broken) {
  if (value.size() <= field.entries_max) return true;
  broken->AddRule(path, "at most " + std::to_string(field.entries_max) +
                            " entries are allowed, found " + std::to_string(value.size()));
  return false;
}

void CheckKey(const std::string& key, const ResourceField& field, const std::string& path,
              Violations* broken) {
  if (field.key_check == nullptr) return;
  if (const std::string rule = field.key_check(key); !rule.empty()) broken->AddRule(path, rule);
}

Json ReadTextMap(const Json& value, const ResourceField& field, const std::string& path,
                 Violations* broken) {
  if (!value.is_object()) return Misfit(value, "an object of strings", path, broken);
  if (!FitsEntries(value, field, path, broken)) return {};
  const bool is_loose = field.type == FieldType::kLooseTextMap;
  Json read = Json::object();
  for (const auto& [key, text] : value.items()) {
    const std::string place = path + "." + key;
    CheckKey(key, field, place, broken);
    if (text.is_string()) {
      read[key] = ReadText(text, field, place, broken);
    } else if (text.is_null() || (is_loose && text.is_primitive())) {
      read[key] = text.is_null() ? text : Json(CompactJson(text));
    } else {
      Misfit(text, "a string", place, broken);
    }
  }
  return read;
}

Json ReadMessageMap(const Json& value, const ResourceField& field, const std::string& path,
                    Violations* broken) {
  if (!value.is_object()) return Misfit(value, "an object of objects", path, broken);
  if (!FitsEntries(value, field, path, broken)) return {};
  Json read = Json::object();
  for (const auto& [key, entry] : value.items()) {
    CheckKey(key, field, path + "." + key, broken);
    read[key] =
        entry.is_null() ? Json() : ReadMessage(entry, *field.message, path + "." + key, broken);
  }
  return read;
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

}  // namespace

Json ReadValue(const Json& value, const ResourceField& field, const std::string& path,
               Violations* broken) {
  using enum FieldType;
  switch (field.type) {
    case kText:
      return ReadText(value, field, path, broken);
    case kFlag:
      return value.is_boolean() ? value : Misfit(value, "true or false", path, broken);
    case kInt32:
    case kInt64:
      return ReadNumber(value, field, path, broken);
    case kDate:
      return IsDateText(value) ? value : Misfit(value, "a date such as 2013-01-15", path, broken);
    case kTime:
      return ReadTime(value, path, broken);
    case kTextMap:
    case kLooseTextMap:
      return ReadTextMap(value, field, path, broken);
    case kMessageMap:
      return ReadMessageMap(value, field, path, broken);
    case kMessage:
      break;
  }
  return ReadMessage(value, *field.message, path, broken);
}

Json ReadList(const Json& value, const ResourceField& field, const std::string& path,
              Violations* broken) {
  if (!value.is_array()) return Misfit(value, "a list", path, broken);
  if (!FitsEntries(value, field, path, broken)) return {};
  Json read = Json::array();
  for (const Json& entry : value) {
    const std::string place = path + "[" + std::to_string(read.size()) + "]";
    const bool is_missing = entry.is_null() || (!field.values.empty() && entry == "");
    Json one = is_missing ? Misfit(entry, "a value", place, broken)
                          : ReadValue(entry, field, place, broken);
    DropEmptyMembers(&one);
    read.push_back(std::move(one));
  }
  return read;
}

namespace {

void CheckRequired(const Json& value, const ResourceMessage& message, const std::string& prefix,
                   Violations* broken) {
  for (const ResourceField& field : message.fields) {
    if (!field.is_required) continue;
    const Json* member = Member(value, field.name);
    if (member != nullptr && !member->is_null() && *member != "") continue;
    broken->Add(prefix + field.name, errors::Required(prefix + field.name));
  }
}

}  // namespace

Json ReadMessage(const Json& value, const ResourceMessage& message, const std::string& path,
                 Violations* broken) {
  if (!value.is_object()) return Misfit(value, "an object", path, broken);
  const std::string prefix = path.empty() ? "" : path + ".";
  CheckRequired(value, message, prefix, broken);
  Json read = Json::object();
  for (const auto& [name, member] : value.items()) {
    const ResourceField* field = FindField(message, name);
    if (field == nullptr) continue;
    const std::string place = prefix + name;
    if (member.is_null() || (field->is_required && member == "")) {
      read[name] = nullptr;
    } else {
      read[name] = field->is_list ? ReadList(member, *field, place, broken)
                                  : ReadValue(member, *field, place, broken);
    }
  }
  return read;
}

const ResourceField* FindField(const ResourceMessage& message, std::string_view name) {
  for (const ResourceField& field : message.fields) {
    if (name == field.name) return &field;
  }
  return nullptr;
}

Result<Json> ReadResource(const Json& body, const ResourceMessage& message) {
  if (body.is_null()) return Json::object();
  if (!body.is_object()) return errors::BodyInvalid("expected a JSON object");
  Violations broken;
  Json read = ReadMessage(body, message, "", &broken);
  RETURN_IF_ERROR(broken.AsStatus());
  return read;
}

}  // namespace caip::gcs
