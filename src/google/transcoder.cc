#include "google/transcoder.h"

#include "base/json.h"
#include "google/scalar_json.h"
#include "google/errors.h"

namespace caip::google {
namespace {

// Reads one message and what is below it; remembers all that is wrong.
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

  // The entries of a map are told by their number, as those of a list of key and value.
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

Json WriteField(const Json& value, const FieldSchema& field, const WriteStyle& style) {
  if (field.kind == FieldKind::kMessage) return WriteMessage(value, *field.message, style);
  return WriteScalar(value, field.kind, style);
}

}  // namespace

Json ReadMessage(const Json& value, const MessageSchema& schema, const std::string& path,
                 std::vector<FieldViolation>& violations) {
  return Reader(violations).Message(value, schema, path);
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
