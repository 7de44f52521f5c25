#pragma once
// The words in which the tables of messages are written: job_schema.cc and study_schema.cc.

#include "google/message_schema.h"

namespace caip::google::fields {

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

/// What a client sends of it is ignored.
constexpr FieldSchema Output(FieldSchema field) {
  field.output_only = true;
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
