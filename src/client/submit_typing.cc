#include "client/submit_typing.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "base/encoding.h"
#include "base/json.h"
#include "base/text.h"
#include "client/python_values.h"
#include "client/submit_errors.h"
#include "ml/schema/job_schema.h"

namespace caip::client {
namespace {

std::string Step(const std::string& pointer, std::string_view key) {
  return pointer + PointerStep(key);
}

// Python accepts blanks around a number, a sign, and single underscores between digits.
std::optional<std::string> PythonDigits(std::string_view text) {
  std::string plain;
  const std::string_view trimmed = Trim(text);
  for (size_t i = 0; i < trimmed.size(); ++i) {
    if (trimmed[i] != '_') {
      plain += trimmed[i];
      continue;
    }
    const auto digit = [&](size_t at) {
      return at < trimmed.size() && trimmed[at] >= '0' && trimmed[at] <= '9';
    };
    if (i == 0 || !digit(i - 1) || !digit(i + 1)) return std::nullopt;
  }
  if (plain.starts_with('+') && plain.size() > 1 && plain[1] != '-') plain.erase(0, 1);
  return plain;
}

std::optional<int64_t> PythonInt(std::string_view text) {
  const std::optional<std::string> digits = PythonDigits(text);
  if (!digits || digits->empty()) return std::nullopt;
  int64_t value = 0;
  const auto [end, code] = std::from_chars(digits->data(), digits->data() + digits->size(), value);
  if (code != std::errc() || end != digits->data() + digits->size()) return std::nullopt;
  return value;
}

std::optional<double> ParsePythonFloat(std::string_view text) {
  const std::optional<std::string> digits = PythonDigits(text);
  if (!digits || digits->empty()) return std::nullopt;
  if (digits->find_first_of("xX") != std::string::npos) return std::nullopt;  // strtod reads hex
  char* end = nullptr;
  const double value = std::strtod(digits->c_str(), &end);
  if (end != digits->c_str() + digits->size()) return std::nullopt;
  return value;
}

// Decodes and encodes base64 as Python does: reads either alphabet, skips foreign characters, and
// writes the URL-safe alphabet.
std::optional<std::string> Base64Again(std::string_view text) {
  std::string quads;
  size_t padding = 0;
  for (char c : text) {
    const char plain = c == '-' ? '+' : c == '_' ? '/' : c;
    const bool letter = (plain >= '0' && plain <= '9') || (plain >= 'a' && plain <= 'z') ||
                        (plain >= 'A' && plain <= 'Z') || plain == '+' || plain == '/';
    if (letter) quads += plain;
    if (c == '=' && quads.size() % 4 > 1) {
      ++padding;
      if ((quads.size() + padding) % 4 == 0) break;
    }
  }
  if ((quads.size() + padding) % 4 != 0) return std::nullopt;
  const std::optional<std::string> bytes = FromBase64(quads);
  if (!bytes) return std::nullopt;
  return Base64Url(*bytes, true);
}

// The field of the message whose name is nearest to a mistyped one; "" if none is near.
std::string Nearest(const google::MessageSchema& message, std::string_view key) {
  std::vector<std::string> names;
  for (const google::FieldSchema& field : message.fields) names.emplace_back(field.name);
  return NearestName(key, names);
}

bool Contains(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// gcloud sends infinity and NaN, which the service cannot read.
constexpr char kNotJson[] = "Out of range float values are not JSON compliant";

class Typing {
 public:
  Typing(TypedFile& result, const std::string& not_sent) : result_(result), not_sent_(not_sent) {}

  Json Message(const google::MessageSchema& type, const Json& value, const std::string& pointer) {
    Json typed = Json::object();
    if (!value.is_object()) {
      Fault(submit_errors::NotAMapping(pointer, value), HasNoItems(value));
      return typed;
    }
    for (const auto& [key, member] : value.items()) {
      const std::string place = Step(pointer, key);
      const google::FieldSchema* field = type.Find(key);
      if (field && field->name == key) {
        Field(*field, key, member, place, typed);
        continue;
      }
      // The client keeps unknown names, including the proto's own spelling (job_id).
      if (!field)
        result_.traps.push_back(submit_errors::UnknownKey(place, key, Nearest(type, key)));
      result_.unknown.push_back(place);
      CheckFinite(member, place);
      typed[key] = member;
    }
    return typed;
  }

 private:
  void Fault(FieldViolation violation, std::string crash) {
    if (result_.faults.empty()) result_.crash = std::move(crash);
    result_.faults.push_back(std::move(violation));
  }

  void Field(const google::FieldSchema& type, const std::string& key, const Json& value,
             const std::string& pointer, Json& into) {
    const bool empty_list = value.is_array() && value.empty();
    if (value.is_null() || (empty_list && !type.repeated)) {
      // the client drops a null, but keeps an unknown enum value unchanged
      if (type.kind != google::FieldKind::kEnum) return;
      into[key] = value;
      result_.unknown.push_back(pointer);
      return;
    }
    if (!type.repeated) {
      if (std::optional<Json> typed = Single(type, value, pointer)) into[key] = *typed;
      return;
    }
    Json list = Json::array();
    const Json whole = value.is_array()
                           ? value
                           : Json::array({value});  // a single element may stand without a list
    for (size_t i = 0; i < whole.size(); ++i) {
      const std::string place = value.is_array() ? pointer + "/" + std::to_string(i) : pointer;
      if (whole[i].is_null()) {
        const bool is_message = type.kind == google::FieldKind::kMessage;
        Fault(submit_errors::NullInList(place),
              is_message ? HasNoItems(whole[i])
                         : "Repeated values for field " + key + " may not be None");
      } else if (std::optional<Json> typed = Single(type, whole[i], place)) {
        list.push_back(*typed);
      }
    }
    if (!list.empty()) into[key] = list;
  }

  std::optional<Json> Single(const google::FieldSchema& type, const Json& value,
                             const std::string& pointer) {
    switch (type.kind) {
      case google::FieldKind::kMessage:
        return Message(*type.message, value, pointer);
      case google::FieldKind::kOpaque:
        return Opaque(value, pointer);
      case google::FieldKind::kStringMap:
        return Map(value, pointer);
      case google::FieldKind::kEnum:
        return Enum(type.enumeration->names, value, pointer);
      case google::FieldKind::kString:
      case google::FieldKind::kTimestamp:
      case google::FieldKind::kDuration:  // the client does not check its form
        return value.is_string() ? std::optional<Json>(value)
                                 : Wrong(type.name, pointer, "text", value);
      case google::FieldKind::kBool:
        return value.is_boolean() ? std::optional<Json>(value)
                                  : Wrong(type.name, pointer, "true or false", value);
      case google::FieldKind::kInt32:
      case google::FieldKind::kInt64:
        return Integer(type, value, pointer);
      case google::FieldKind::kDouble:
        return Float(type, value, pointer);
      case google::FieldKind::kBytes:
        return Bytes(type, value, pointer);
    }
    return std::nullopt;
  }

  // Prediction, explanation and architecture search are not emulated. They are passed on, and the
  // service rejects them.
  std::optional<Json> Opaque(const Json& value, const std::string& pointer) {
    if (!value.is_object()) Fault(submit_errors::NotAMapping(pointer, value), HasNoItems(value));
    CheckFinite(value, pointer);
    return value;
  }

  // `field`: as the client calls the field in its own message.
  std::optional<Json> Wrong(std::string_view field, const std::string& pointer,
                            std::string_view wanted, const Json& value) {
    Fault(submit_errors::WrongType(pointer, wanted, value), ExpectedType(field, wanted, value));
    return std::nullopt;
  }

  // The client treats a boolean as an integer and sends "True".
  std::optional<Json> Integer(const google::FieldSchema& type, const Json& value,
                              const std::string& pointer) {
    const bool as_text = type.kind == google::FieldKind::kInt64;
    if (value.is_boolean()) {
      Json sent = as_text ? Json(value.get<bool>() ? "True" : "False") : value;
      result_.traps.push_back(submit_errors::NotSpelledAsMeant(pointer, value, CompactJson(sent)));
      return sent;
    }
    if (value.is_number_integer()) return as_text ? Json(value.dump()) : value;
    const std::optional<int64_t> number =
        value.is_string() ? PythonInt(value.get<std::string>()) : std::nullopt;
    if (!number) return Wrong(type.name, pointer, "a whole number", value);
    return as_text ? Json(std::to_string(*number)) : Json(*number);
  }

  std::optional<Json> Float(const google::FieldSchema& type, const Json& value,
                            const std::string& pointer) {
    std::optional<double> number;
    if (value.is_boolean()) {
      number = value.get<bool>() ? 1.0 : 0.0;
      result_.traps.push_back(
          submit_errors::NotSpelledAsMeant(pointer, value, CompactJson(Json(*number))));
    } else if (value.is_number()) {
      number = value.get<double>();
    } else if (value.is_string()) {
      number = ParsePythonFloat(value.get<std::string>());
    }
    if (!number) return Wrong(type.name, pointer, "a number", value);
    if (!std::isfinite(*number)) {
      Fault(submit_errors::NotFinite(pointer), kNotJson);
      return std::nullopt;
    }
    return Json(*number);
  }

  std::optional<Json> Bytes(const google::FieldSchema& type, const Json& value,
                            const std::string& pointer) {
    if (value.is_structured()) return Wrong(type.name, pointer, "text in base64", value);
    std::string text = value.is_string() ? value.get<std::string>() : CompactJson(value);
    if (value.is_boolean()) text = value.get<bool>() ? "True" : "False";
    const std::optional<std::string> sent = Base64Again(text);
    if (sent) return Json(*sent);
    Fault(submit_errors::BrokenBase64(pointer, text), "Incorrect padding");
    return std::nullopt;
  }

  // A known name or number becomes the name. Any other value is passed on unchanged.
  std::optional<Json> Enum(std::span<const std::string_view> names, const Json& value,
                           const std::string& pointer) {
    const bool zero = value.is_number() && value.get<double>() == 0;
    if (zero || value == Json("") || value == Json(false) || value == Json::object()) {
      Fault(submit_errors::EmptyEnum(pointer, names),
            "Must specify either python_name or json_name for enum remapping");
      return std::nullopt;
    }
    if (value.is_string() && Contains(names, value.get<std::string>())) return value;
    if (value.is_number_integer() || value.is_boolean()) {
      const int64_t number = value.is_boolean() ? 1 : value.get<int64_t>();
      if (number > 0 && number < static_cast<int64_t>(names.size())) {
        const std::string_view name = names[static_cast<size_t>(number)];
        result_.traps.push_back(submit_errors::NotSpelledAsMeant(pointer, value, name));
        return Json(std::string(name));
      }
    }
    result_.traps.push_back(submit_errors::UnknownEnum(pointer, value, names));
    result_.unknown.push_back(pointer);
    CheckFinite(value, pointer);
    return value;
  }

  std::optional<Json> Map(const Json& value, const std::string& pointer) {
    if (!value.is_object()) {
      Fault(submit_errors::NotAMapping(pointer, value), HasNoItems(value));
      return std::nullopt;
    }
    Json typed = Json::object();
    for (const auto& [key, member] : value.items()) {
      const std::string place = Step(pointer, key);
      if (key == "additionalProperties") {  // the client's own name of the map
        Fault(submit_errors::ReservedKey(place), HasNoItems(member));
      } else if (member.is_null()) {
        result_.traps.push_back(submit_errors::NotSpelledAsMeant(place, member, "null"));
        typed[key] = nullptr;
      } else if (member.is_string()) {
        typed[key] = member;
      } else {
        (void)Wrong("value", place, "text", member);
      }
    }
    return typed;
  }

  void CheckFinite(const Json& value, const std::string& pointer) {
    if (!not_sent_.empty() && pointer.starts_with(not_sent_ + "/")) return;
    if (value.is_number_float() && !std::isfinite(value.get<double>())) {
      Fault(submit_errors::NotFinite(pointer), kNotJson);
    } else if (value.is_object()) {
      for (const auto& [key, member] : value.items()) CheckFinite(member, Step(pointer, key));
    } else if (value.is_array()) {
      for (size_t i = 0; i < value.size(); ++i) {
        CheckFinite(value[i], pointer + "/" + std::to_string(i));
      }
    }
  }

  TypedFile& result_;
  const std::string& not_sent_;
};

}  // namespace

TypedFile TypeFile(const Json& file) { return TypeFileAs(ml::JobSchema(), file); }

TypedFile TypeFileAs(const google::MessageSchema& message, const Json& file,
                     const std::string& not_sent) {
  TypedFile result;
  result.job = Typing(result, not_sent).Message(message, file, "");
  return result;
}

std::span<const std::string_view> EnumNames(std::string_view path) {
  const google::MessageSchema* message = &ml::JobSchema();
  const google::FieldSchema* field = nullptr;
  for (const std::string& step : Split(path, '.')) {
    field = message->Find(step);
    assert(field);
    if (field->message) message = field->message;
  }
  assert(field);
  return field->enumeration->names;
}

Status CheckJobField(std::string_view path) {
  const google::MessageSchema* message = &ml::JobSchema();
  std::string parent;
  for (const std::string& step : Split(path, '.')) {
    const google::FieldSchema* field = message ? message->Find(step) : nullptr;
    if (!field || field->name != step) {
      const std::string nearest = message ? Nearest(*message, step) : "";
      return submit_errors::NoJobField(path, nearest.empty() ? "" : parent + nearest);
    }
    const bool has_any_key = field->kind == google::FieldKind::kStringMap ||
                             field->kind == google::FieldKind::kOpaque || field->repeated;
    if (has_any_key) return Ok{};
    message = field->message;
    parent += step + ".";
  }
  return Ok{};
}

bool IsKnownEnum(std::string_view path, const Json& value) {
  return value.is_string() && Contains(EnumNames(path), value.get<std::string>());
}

}  // namespace caip::client
