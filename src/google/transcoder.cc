#include "google/transcoder.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "base/json.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "base/time_text.h"
#include "google/errors.h"
#include "google/message_schema.h"

namespace caip::google {
namespace {

// Single values of the proto3 JSON mapping: numbers, strings, enums, times.

constexpr std::string_view kDurationType = "google.protobuf.Duration";
constexpr std::string_view kTimestampType = "google.protobuf.Timestamp";

// "type.googleapis.com/google.cloud.ml.v1.Job", as errors name a type.
std::string TypeUrl(std::string_view type) { return "type.googleapis.com/" + std::string(type); }

Error Refused(FieldViolation violation) { return errors::NotTheMessage({std::move(violation)}); }

std::string_view ScalarTypeName(FieldKind kind) {
  switch (kind) {
    case FieldKind::kString:
      return "TYPE_STRING";
    case FieldKind::kBool:
      return "TYPE_BOOL";
    case FieldKind::kInt32:
      return "TYPE_INT32";
    case FieldKind::kInt64:
      return "TYPE_INT64";
    case FieldKind::kDouble:
      return "TYPE_DOUBLE";
    case FieldKind::kBytes:
      return "TYPE_BYTES";
    default:
      return "TYPE_MESSAGE";
  }
}

bool FitsInt32(int64_t number) {
  return number >= std::numeric_limits<int32_t>::min() &&
         number <= std::numeric_limits<int32_t>::max();
}

std::optional<double> Double(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return std::nullopt;
  const std::string text = value.get<std::string>();
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, number);
  if (code != std::errc() || stop != end || !std::isfinite(number)) return std::nullopt;
  return number;
}

Result<Json> ReadDuration(const Json& value, const std::string& path, const std::string& name) {
  const std::string type = TypeUrl(kDurationType);
  if (!value.is_string()) return Refused(errors::InvalidValue(path, type, CompactJson(value)));
  const std::string text = value.get<std::string>();
  if (!text.ends_with('s')) {
    return Refused(errors::InvalidFormat(path, type, name,
                                         "Illegal duration format; duration must end with 's'"));
  }
  if (const auto duration = ParseProtoDuration(text)) return Json(duration->count());
  return Refused(errors::InvalidFormat(
      path, type, name, "Invalid duration format, failed to parse seconds: \"" + text + "\""));
}

Result<Json> ReadTimestamp(const Json& value, const std::string& path, const std::string& name) {
  const std::string type = TypeUrl(kTimestampType);
  if (!value.is_string()) return Refused(errors::InvalidValue(path, type, CompactJson(value)));
  const std::string text = value.get<std::string>();
  if (const auto instant = ParseRfc3339(text)) return Json(instant->time_since_epoch().count());
  return Refused(errors::InvalidFormat(path, type, name, "Invalid time format: " + text));
}

Result<Json> ReadEnum(const Json& value, const EnumSchema& schema, const std::string& path) {
  if (value.is_string() && schema.Has(value.get<std::string>())) return value;
  if (value.is_number_integer()) {
    const auto number = ReadInteger(value);
    const bool is_listed =
        number && *number >= 0 && *number < static_cast<int64_t>(schema.names.size());
    const std::string name(is_listed ? schema.names[static_cast<size_t>(*number)] : "");
    if (!name.empty()) return Json(name);
  }
  return Refused(errors::InvalidValue(path, TypeUrl(schema.type), CompactJson(value)));
}

Result<Json> ReadBytes(const Json& value, const std::string& path) {
  if (value.is_string()) {
    if (auto bytes = FromBase64(value.get<std::string>())) return Json(*std::move(bytes));
    return Refused(errors::InvalidValue(path, "TYPE_BYTES",
                                        "Base64 decoding failed for " + CompactJson(value)));
  }
  return Refused(errors::InvalidValue(path, "TYPE_BYTES", CompactJson(value)));
}

Json WriteDouble(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  // Google's APIs write a whole number as 30, not as 30.0.
  if (std::nearbyint(number) == number && std::fabs(number) < 0x1p53) {
    return static_cast<int64_t>(number);
  }
  return number;
}

// Reads one value of a field that is neither a message nor a map. `path` is the field's, `name` is
// the spelling that was sent. The error has one violation.
Result<Json> ReadScalar(const Json& value, const FieldSchema& field, const std::string& path,
                        const std::string& name) {
  switch (field.kind) {
    case FieldKind::kString:
      if (value.is_string()) return value;
      break;
    case FieldKind::kBool:
      if (value.is_boolean()) return value;
      break;
    case FieldKind::kInt32:
      if (const auto number = ReadInteger(value); number && FitsInt32(*number))
        return Json(*number);
      break;
    case FieldKind::kInt64:
      if (const auto number = ReadInteger(value)) return Json(*number);
      break;
    case FieldKind::kDouble:
      if (const auto number = Double(value)) return Json(*number);
      break;
    case FieldKind::kOpaque:
      if (value.is_object()) return value;
      break;
    case FieldKind::kBytes:
      return ReadBytes(value, path);
    case FieldKind::kTimestamp:
      return ReadTimestamp(value, path, name);
    case FieldKind::kDuration:
      return ReadDuration(value, path, name);
    case FieldKind::kEnum:
      return ReadEnum(value, *field.enumeration, path);
    case FieldKind::kMessage:
    case FieldKind::kStringMap:
      break;
  }
  return Refused(errors::InvalidValue(path, ScalarTypeName(field.kind), CompactJson(value)));
}

// The inverse: int64 as text, times as RFC 3339, bytes as base64.
Json WriteScalar(const Json& plain, FieldKind kind, const WriteStyle& style) {
  switch (kind) {
    case FieldKind::kInt64:
      return std::to_string(plain.get<int64_t>());
    case FieldKind::kDouble:
      return WriteDouble(plain.get<double>());
    case FieldKind::kBytes:
      return Base64(plain.get<std::string>());
    case FieldKind::kTimestamp:
      return Rfc3339(Instant(Duration(plain.get<int64_t>())), style.fraction_digits);
    case FieldKind::kDuration:
      return ProtoDuration(Duration(plain.get<int64_t>()));
    default:
      return plain;
  }
}

}  // namespace

namespace {

// Reads a message with its submessages and collects all violations.
class Reader {
 public:
  explicit Reader(std::vector<FieldViolation>& violations) : violations_(violations) {}

  Json Message(const Json& value, const MessageSchema& schema, const std::string& path) {
    Json plain = Json::object();
    if (!value.is_object()) {
      Report(errors::InvalidValue(path, TypeUrl(schema.type), CompactJson(value)));
      return plain;
    }
    for (const auto& [name, member] : value.items()) {
      const FieldSchema* field = schema.Find(name);
      if (field == nullptr) {
        Report(errors::UnknownName(name, path));
      } else if (member.is_null()) {
        continue;
      } else if (plain.contains(field->proto_name)) {
        Report(errors::NameSetTwice(name, path));
      } else {
        plain[std::string(field->proto_name)] = Field(member, *field, path, name);
      }
    }
    return plain;
  }

 private:
  Json Field(const Json& value, const FieldSchema& field, const std::string& parent,
             const std::string& name) {
    const std::string path = parent + "." + std::string(field.proto_name);
    if (!field.repeated) {
      if (!value.is_array()) return Single(value, field, path, name);
      Report(errors::ListForSingleField(name, parent));
      return nullptr;
    }
    Json list = Json::array();
    if (!value.is_array()) {
      Report(errors::ValueForRepeatedField(name, parent));
      return list;
    }
    for (size_t i = 0; i < value.size(); ++i) {
      list.push_back(Single(value[i], field, path + "[" + std::to_string(i) + "]", name));
    }
    return list;
  }

  Json Single(const Json& value, const FieldSchema& field, const std::string& path,
              const std::string& name) {
    if (field.kind == FieldKind::kMessage) return Message(value, *field.message, path);
    if (field.kind == FieldKind::kStringMap) return StringMap(value, path);
    Result<Json> scalar = ReadScalar(value, field, path, name);
    if (scalar.ok()) return std::move(scalar).value();
    for (const FieldViolation& violation : scalar.error().violations) Report(violation);
    return nullptr;
  }

  // A violation names an entry by its number, because the proto sees a list of keys and values.
  Json StringMap(const Json& value, const std::string& path) {
    Json map = Json::object();
    if (!value.is_object()) {
      Report(errors::InvalidValue(path, "map<string, string>", CompactJson(value)));
      return map;
    }
    size_t index = 0;
    for (const auto& [key, entry] : value.items()) {
      const std::string at = path + "[" + std::to_string(index++) + "].value";
      if (entry.is_string()) {
        map[key] = entry;
      } else {
        Report(errors::InvalidValue(at, "TYPE_STRING", CompactJson(entry)));
      }
    }
    return map;
  }

  void Report(FieldViolation violation) { violations_.push_back(std::move(violation)); }

  std::vector<FieldViolation>& violations_;
};

Json EnumNumber(const Json& name, const EnumSchema& schema) {
  const auto found =
      std::find(schema.names.begin(), schema.names.end(), name.get_ref<const std::string&>());
  if (found == schema.names.end()) return name;
  return Json(found - schema.names.begin());
}

Json WriteField(const Json& value, const FieldSchema& field, const WriteStyle& style) {
  if (field.kind == FieldKind::kEnum && style.enum_numbers) {
    return EnumNumber(value, *field.enumeration);
  }
  if (field.kind == FieldKind::kMessage) return WriteMessage(value, *field.message, style);
  return WriteScalar(value, field.kind, style);
}

bool IsDefault(const Json& value, const FieldSchema& field) {
  switch (field.kind) {
    case FieldKind::kString:
    case FieldKind::kBytes:
      return value == "";
    case FieldKind::kBool:
      return value == false;
    case FieldKind::kInt32:
    case FieldKind::kInt64:
    case FieldKind::kDouble:
      return value == 0;
    case FieldKind::kEnum:
      return value == field.enumeration->names[0];
    case FieldKind::kStringMap:
      return value.empty();
    default:
      return false;
  }
}

}  // namespace

std::optional<int64_t> ReadInteger(const Json& value) {
  if (value.is_number_unsigned()) {
    const uint64_t number = value.get<uint64_t>();
    if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
    return static_cast<int64_t>(number);
  }
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (std::nearbyint(number) != number || std::fabs(number) >= 0x1p63) return std::nullopt;
    return static_cast<int64_t>(number);
  }
  if (!value.is_string()) return std::nullopt;
  const std::string text = value.get<std::string>();
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, number);
  if (code != std::errc() || stop != end) return std::nullopt;
  return number;
}

Json ReadMessage(const Json& value, const MessageSchema& schema, const std::string& path,
                 std::vector<FieldViolation>& violations) {
  return Reader(violations).Message(value, schema, path);
}

void RemoveDefaults(Json& plain, const MessageSchema& schema) {
  for (const FieldSchema& field : schema.fields) {
    const std::string name(field.proto_name);
    if (!plain.contains(name)) continue;
    Json& value = plain[name];
    if (field.is_in_oneof) continue;
    if (field.repeated ? value.empty() : IsDefault(value, field)) {
      plain.erase(name);
    } else if (field.kind == FieldKind::kMessage) {
      if (!field.repeated) RemoveDefaults(value, *field.message);
      if (!field.repeated) continue;
      for (Json& element : value) RemoveDefaults(element, *field.message);
    }
  }
}

Json WithoutOutputFields(const Json& body, const MessageSchema& schema) {
  Json input = Json::object();
  for (const auto& [name, value] : body.items()) {
    const FieldSchema* field = schema.Find(name);
    if (field == nullptr || !field->output_only) input[name] = value;
  }
  return input;
}

Json WriteMessage(const Json& plain, const MessageSchema& schema, const WriteStyle& style) {
  Json written = Json::object();
  for (const FieldSchema& field : schema.fields) {
    const Json* value = Member(plain, field.proto_name);
    if (value == nullptr || value->is_null()) continue;
    Json shown;
    if (field.repeated) {
      shown = Json::array();
      for (const Json& element : *value) shown.push_back(WriteField(element, field, style));
    } else {
      shown = WriteField(*value, field, style);
    }
    written[std::string(style.camel_case ? field.name : field.proto_name)] = std::move(shown);
  }
  return written;
}

}  // namespace caip::google
