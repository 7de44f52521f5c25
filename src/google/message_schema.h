#pragma once
// The messages of an API as tables: the name and the type of each field. The transcoder reads and
// writes JSON by them. They can be compared with a discovery document.

#include <span>
#include <string_view>

namespace caip::google {

enum class FieldKind {
  kString,
  kBool,
  kInt32,
  kInt64,
  kDouble,
  kBytes,
  kTimestamp,
  kDuration,
  kEnum,
  kMessage,
  kStringMap,  // map<string, string>
  kOpaque,     // a message whose content is not checked
};

struct EnumSchema {
  std::string_view type;                    // "google.cloud.ml.v1.TrainingInput.ScaleTier"
  std::span<const std::string_view> names;  // the index is the value; "" for one without a name
  bool Has(std::string_view name) const;
};

struct MessageSchema;

struct FieldSchema {
  std::string_view name;        // lowerCamelCase: "pythonModule"
  std::string_view proto_name;  // "python_module"
  FieldKind kind = FieldKind::kString;
  bool repeated = false;
  bool output_only = false;
  const MessageSchema* message = nullptr;   // of kMessage
  const EnumSchema* enumeration = nullptr;  // of kEnum
  bool is_in_oneof = false;                 // answers show it even if it has the default value
};

struct MessageSchema {
  std::string_view type;  // "google.cloud.ml.v1.Job"
  std::span<const FieldSchema> fields;
  /// Finds a field by either spelling; nullptr when there is none.
  const FieldSchema* Find(std::string_view name) const;
};

}  // namespace caip::google

namespace caip::google::fields {

// Functions with which job_schema.cc and study_schema.cc write their tables.

constexpr FieldSchema Field(std::string_view name, std::string_view proto_name, FieldKind kind) {
  return {.name = name, .proto_name = proto_name, .kind = kind};
}

constexpr FieldSchema Of(std::string_view name, std::string_view proto_name,
                         const MessageSchema& message) {
  return {.name = name, .proto_name = proto_name, .kind = FieldKind::kMessage, .message = &message};
}

constexpr FieldSchema Of(std::string_view name, std::string_view proto_name,
                         const EnumSchema& enumeration) {
  return {.name = name,
          .proto_name = proto_name,
          .kind = FieldKind::kEnum,
          .enumeration = &enumeration};
}

/// A field that only the service sets. A value that a client sends is ignored.
constexpr FieldSchema Output(FieldSchema field) {
  field.output_only = true;
  return field;
}

/// A member of a oneof: that it is set is a fact, whatever its value is.
constexpr FieldSchema InOneof(FieldSchema field) {
  field.is_in_oneof = true;
  return field;
}

constexpr FieldSchema List(FieldSchema field) {
  field.repeated = true;
  return field;
}

constexpr FieldSchema Repeated(std::string_view name, std::string_view proto_name, FieldKind kind) {
  return List(Field(name, proto_name, kind));
}

}  // namespace caip::google::fields
