#pragma once
// The shape of the API's messages as tables: what a field is called, and what may stand in it.
// The transcoder reads and writes JSON by them; a discovery document can be held against them.

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
  kOpaque,     // a message that is recognised but not looked into
};

struct EnumSchema {
  std::string_view type;                    // "google.cloud.ml.v1.TrainingInput.ScaleTier"
  std::span<const std::string_view> names;  // the index is the value
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
};

struct MessageSchema {
  std::string_view type;  // "google.cloud.ml.v1.Job"
  std::span<const FieldSchema> fields;
  /// By either spelling; nullptr when there is none.
  const FieldSchema* Find(std::string_view name) const;
};

}  // namespace caip::google
