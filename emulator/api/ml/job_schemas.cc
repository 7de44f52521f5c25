#include "emulator/api/ml/job_schemas.h"

#include "base/json.h"
#include "base/text.h"
#include "google/message_schema.h"
#include "ml/schema/job_schema.h"

namespace caip::api {
namespace {

using google::FieldKind;

// "google.cloud.ml.v1.Job" -> "GoogleCloudMlV1__Job", "...A.B" -> "GoogleCloudMlV1_A_B".
std::string SchemaName(std::string_view type) {
  constexpr std::string_view kPackage = "google.cloud.ml.v1.";
  assert(type.starts_with(kPackage));
  const std::string name(type.substr(kPackage.size()));
  const bool nested = name.find('.') != std::string::npos;
  return (nested ? "GoogleCloudMlV1_" : "GoogleCloudMlV1__") + ReplaceAll(name, ".", "_");
}

Json Scalar(const char* type, const char* format = nullptr) {
  Json schema = {{"type", type}};
  if (format) schema["format"] = format;
  return schema;
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
      return {{"type", "string"}, {"enum", field.enumeration->names}};
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

}  // namespace

void AddJobSchemas(Json& schemas) { Add(ml::JobSchema(), schemas); }

}  // namespace caip::api
