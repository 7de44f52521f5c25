#include "emulator/api/discovery/json_schemas.h"

#include <cassert>
#include <cctype>

#include "base/json.h"
#include "base/text.h"
#include "emulator/api/json_messages.h"
#include "google/errors.h"
#include "google/message_schema.h"
#include "google/transcoder.h"
#include "ml/errors.h"
#include "ml/schema/job_schema.h"
#include "vertex/schema/custom_job_schema.h"
#include "vertex/schema/training_pipeline_schema.h"
#include "vertex/schema/tuning_job_schema.h"

namespace caip::api {
namespace {

using google::FieldKind;

// Converts "google.cloud.aiplatform.v1.A.B" to "GoogleCloudAiplatformV1AB".
std::string SchemaNameWithoutMarks(std::string_view type) {
  std::string name;
  for (const std::string& part : Split(type, '.')) {
    name += static_cast<char>(std::toupper(static_cast<unsigned char>(part.front())));
    name += part.substr(1);
  }
  return name;
}

// Converts "google.cloud.ml.v1.Job" to "GoogleCloudMlV1__Job", and "...A.B" to
// "GoogleCloudMlV1_A_B". Only this API has the marks.
std::string SchemaName(std::string_view type) {
  constexpr std::string_view kPackage = "google.cloud.ml.v1.";
  if (!type.starts_with(kPackage)) return SchemaNameWithoutMarks(type);
  const std::string name(type.substr(kPackage.size()));
  const bool nested = name.find('.') != std::string::npos;
  return (nested ? "GoogleCloudMlV1_" : "GoogleCloudMlV1__") + ReplaceAll(name, ".", "_");
}

Json Scalar(const char* type, const char* format = nullptr) {
  Json schema = {{"type", type}};
  if (format) schema["format"] = format;
  return schema;
}

// An enum may have numbers without a name.
Json NamesOf(const google::EnumSchema& enumeration) {
  Json names = Json::array();
  for (const std::string_view name : enumeration.names) {
    if (!name.empty()) names.push_back(name);
  }
  return names;
}

Json TypeOf(const google::FieldSchema& field) {
  switch (field.kind) {
    case FieldKind::kString:
      return Scalar("string");
    case FieldKind::kBool:
      return Scalar("boolean");
    case FieldKind::kInt32:
      return Scalar("integer", "int32");
    case FieldKind::kInt64:
      return Scalar("string", "int64");
    case FieldKind::kDouble:
      return Scalar("number", "double");
    case FieldKind::kBytes:
      return Scalar("string", "byte");
    case FieldKind::kTimestamp:
      return Scalar("string", "google-datetime");
    case FieldKind::kDuration:
      return Scalar("string", "google-duration");
    case FieldKind::kEnum:
      return {{"type", "string"}, {"enum", NamesOf(*field.enumeration)}};
    case FieldKind::kMessage:
      return {{"$ref", SchemaName(field.message->type)}};
    case FieldKind::kStringMap:
      return {{"type", "object"}, {"additionalProperties", Scalar("string")}};
    case FieldKind::kOpaque:
      return {{"type", "object"}, {"additionalProperties", Scalar("any")}};
  }
  return Scalar("any");
}

void Add(const google::MessageSchema& message, Json& schemas) {
  const std::string name = SchemaName(message.type);
  if (schemas.contains(name)) return;
  Json properties = Json::object();
  for (const google::FieldSchema& field : message.fields) {
    Json type = TypeOf(field);
    if (field.repeated) type = {{"type", "array"}, {"items", std::move(type)}};
    if (field.output_only) type["readOnly"] = true;
    properties[std::string(field.name)] = std::move(type);
  }
  schemas[name] = {{"id", name}, {"type", "object"}, {"properties", std::move(properties)}};
  for (const google::FieldSchema& field : message.fields) {
    if (field.kind == FieldKind::kMessage) Add(*field.message, schemas);
  }
}

// As in all of Google's APIs, the text of a number may stand for it.
bool IsInt32(const Json& value) {
  const auto number = google::ReadInteger(value);
  return number && *number >= INT32_MIN && *number <= INT32_MAX;
}

// Gives the members of a message their names in JSON, and drops those that are null. What the
// schemas do not describe stays.
class MessageRenaming {
 public:
  explicit MessageRenaming(const Json& schemas) : schemas_(schemas) {}

  Json Value(const Json& value, const Json& type) const {
    if (const Json* items = Member(type, "items"); items && value.is_array()) {
      Json list = Json::array();
      for (const Json& element : value) list.push_back(Value(element, *items));
      return list;
    }
    const Json* reference = Member(type, "$ref");
    if (!reference || !value.is_object()) return value;
    const Json* fields = Member(schemas_.at(reference->get<std::string>()), "properties");
    Json object = Json::object();
    for (const auto& [name, member] : value.items()) {
      const Json* field = fields ? Member(*fields, JsonName(name)) : nullptr;
      if (!field) {
        object[name] = member;
      } else if (!member.is_null()) {
        object[JsonName(name)] = Value(member, *field);
      }
    }
    return object;
  }

 private:
  const Json& schemas_;
};

class MessageCheck {
 public:
  explicit MessageCheck(const Json& schemas) : schemas_(schemas) {}

  void Value(const Json& value, const Json& type, const std::string& path) {
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
      const bool number = StringOr(type, "format") == "int64" && google::ReadInteger(value);
      if (!number) Wrong(path, "TYPE_STRING", value);
    } else if (name == "boolean" && !value.is_boolean()) {
      Wrong(path, "TYPE_BOOL", value);
    } else if (name == "integer" && !IsInt32(value)) {
      Wrong(path, "TYPE_INT32", value);
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
        if (!member.is_null()) Value(member, *type, path.empty() ? name : path + "." + name);
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

void AddVertexSchemas(Json& schemas) {
  Add(vertex::CustomJobSchema(), schemas);
  Add(vertex::TuningJobSchema(), schemas);
  Add(vertex::TrainingPipelineSchema(), schemas);
  // Of the type google.protobuf.Value.
  Json& pipeline = schemas["GoogleCloudAiplatformV1TrainingPipeline"]["properties"];
  for (const char* name : {"trainingTaskInputs", "trainingTaskMetadata"}) {
    Json& property = pipeline[name];
    property.erase("additionalProperties");
    property["type"] = "any";
  }
}

// The fields are those of TakeBetaFields (src/vertex/beta_fields.h).
void AddVertexBetaSchemas(Json& schemas) {
  Json stable = Json::object();
  AddVertexSchemas(stable);
  const auto renamed =
      ParseJson(ReplaceAll(CompactJson(stable), kVertexSchemas, kVertexBetaSchemas));
  assert(renamed.ok());
  schemas.update(*renamed);
  const std::string prefix = kVertexBetaSchemas;
  const auto add = [&](const std::string& message, const Json& fields) {
    Json& schema = schemas[prefix + message];
    schema["id"] = prefix + message;
    schema["type"] = "object";
    schema["properties"].update(fields);
  };
  add("MachineSpec", {{"multihostGpuNodeCount", Scalar("integer", "int32")},
                      {"minGpuDriverVersion", Scalar("string")}});
  add("StudySpec",
      {{"convexStopConfig", {{"$ref", prefix + "StudySpecConvexStopConfig"}}},
       {"transferLearningConfig", {{"$ref", prefix + "StudySpecTransferLearningConfig"}}}});
  add("StudySpecConvexStopConfig", {{"maxNumSteps", Scalar("string", "int64")},
                                    {"minNumSteps", Scalar("string", "int64")},
                                    {"autoregressiveOrder", Scalar("string", "int64")},
                                    {"learningRateParameterName", Scalar("string")},
                                    {"useSeconds", Scalar("boolean")}});
  add("StudySpecTransferLearningConfig",
      {{"disableTransferLearning", Scalar("boolean")},
       {"priorStudyNames", {{"type", "array"}, {"items", Scalar("string")}, {"readOnly", true}}}});
}

void AddJobSchemas(Json& schemas) { Add(ml::JobSchema(), schemas); }

Json WithJsonNames(const Json& body, const Json& schemas, std::string_view message) {
  return MessageRenaming(schemas).Value(body, Json{{"$ref", message}});
}

Status CheckMessage(const Json& body, const Json& schemas, std::string_view message) {
  MessageCheck check(schemas);
  check.Value(body, Json{{"$ref", message}}, "");
  return check.Take();
}

}  // namespace caip::api
