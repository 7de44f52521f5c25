#include "emulator/api/ml/message_check.h"

#include "base/json.h"
#include "google/errors.h"
#include "ml/errors.h"

namespace caip::api {
namespace {

class MessageCheck {
 public:
  explicit MessageCheck(const Json& schemas) : schemas_(schemas) {}

  void Value(const Json& value, const Json& type, const std::string& path) {
    if (value.is_null()) return;  // as if it were absent
    if (const Json* reference = Member(type, "$ref")) {
      return Object(value, schemas_.at(reference->get<std::string>()), path);
    }
    const std::string name = StringOr(type, "type");
    if (name == "array") {
      if (!value.is_array()) return Wrong(path, "TYPE_REPEATED", value);
      for (size_t i = 0; i < value.size(); ++i) {
        Value(value[i], type.at("items"), path + "[" + std::to_string(i) + "]");
      }
    } else if (name == "object") {
      if (!value.is_object()) return Wrong(path, "TYPE_MESSAGE", value);
      for (const auto& [key, member] : value.items()) {
        Value(member, type.at("additionalProperties"), path + "." + key);
      }
    } else if (name == "string" && !value.is_string()) {
      const bool number = StringOr(type, "format") == "int64" && value.is_number_integer();
      if (!number) Wrong(path, "TYPE_STRING", value);
    } else if (name == "boolean" && !value.is_boolean()) {
      Wrong(path, "TYPE_BOOL", value);
    } else if (name == "integer" && !value.is_number_integer()) {
      const bool digits = value.is_string() && IntOr(Json{{"v", value}}, "v", -1) >= 0;
      if (!digits) Wrong(path, "TYPE_INT32", value);
    } else if (name == "number" && !value.is_number()) {
      Wrong(path, "TYPE_DOUBLE", value);
    }
  }

  Status Take() {
    if (violations_.empty()) return Ok{};
    return google::errors::NotTheMessage(std::move(violations_));
  }

 private:
  void Object(const Json& value, const Json& schema, const std::string& path) {
    if (!value.is_object()) return Wrong(path, "TYPE_MESSAGE", value);
    const Json* properties = Member(schema, "properties");
    for (const auto& [name, member] : value.items()) {
      const Json* type = properties ? Member(*properties, name) : nullptr;
      if (type) {
        Value(member, *type, path.empty() ? name : path + "." + name);
      } else if (!schema.contains("additionalProperties")) {
        violations_.push_back(google::errors::UnknownName(name, path));
      }
    }
  }
  void Wrong(const std::string& path, std::string_view type, const Json& value) {
    violations_.push_back(google::errors::InvalidValue(path, type, CompactJson(value)));
  }

  const Json& schemas_;
  std::vector<FieldViolation> violations_;
};

}  // namespace

Status CheckMessage(const Json& body, const Json& schemas, std::string_view message) {
  MessageCheck check(schemas);
  check.Value(body, Json{{"$ref", message}}, "");
  return check.Take();
}

}  // namespace caip::api
