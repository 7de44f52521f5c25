#pragma once
// The fields of a resource that a client may set, with their types and values, as the discovery
// document of storage/v1 lists them; and their reader. Private to fakes/gcs.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"
#include "fakes/gcs/service/violations.h"

namespace caip::gcs {

enum class FieldType {
  kText,
  kFlag,
  kInt32,
  kInt64,
  kDate,
  kTime,
  kMessage,
  kTextMap,
  kLooseTextMap,  // takes numbers and booleans, too: they become text, as in the service
  kMessageMap,
};

struct ResourceMessage;

/// Returns the rule that a text breaks, or "".
using TextCheck = std::string (*)(std::string_view text);

struct ResourceField {
  const char* name;
  FieldType type;
  bool is_list = false;
  bool is_required = false;
  size_t entries_max = std::numeric_limits<size_t>::max();  // of lists and maps
  const ResourceMessage* message = nullptr;                 // of kMessage and kMessageMap
  // Of kText; empty: any text.
  std::span<const std::string_view> values = {};
  bool any_case = false;
  TextCheck check = nullptr;      // of kText and the values of kTextMap
  TextCheck key_check = nullptr;  // of maps
  // Of kInt32 and kInt64.
  int64_t least = std::numeric_limits<int64_t>::min();
  int64_t most = std::numeric_limits<int64_t>::max();
};

struct ResourceMessage {
  std::span<const ResourceField> fields;
};

/// nullptr: a client may not set a field of that name.
const ResourceField* FindField(const ResourceMessage& message, std::string_view name);

/// Reads the body of a request and checks the type and the value of every field at every depth.
/// Writes numbers and times in the form in which the service returns them. Leaves out fields that
/// are read-only or unknown, as the service does. Keeps null, which clears a field. null instead of
/// the body is an empty object. kInvalidArgument names all fields that are wrong.
Result<Json> ReadResource(const Json& body, const ResourceMessage& message);

/// The same for a part of a body. `path` is its place there, "" for the whole body.
Json ReadMessage(const Json& value, const ResourceMessage& message, const std::string& path,
                 Violations* broken);
Json ReadList(const Json& value, const ResourceField& field, const std::string& path,
              Violations* broken);

/// Reads a value, or one entry of a list.
Json ReadValue(const Json& value, const ResourceField& field, const std::string& path,
               Violations* broken);

/// Makes the rows of a table of fields.
namespace resource_fields {

using enum FieldType;

constexpr ResourceField Of(const char* name, const ResourceMessage& message) {
  return {.name = name, .type = kMessage, .message = &message};
}

constexpr ResourceField MapOf(const char* name, const ResourceMessage& message,
                              TextCheck key_check) {
  return {.name = name, .type = kMessageMap, .message = &message, .key_check = key_check};
}

constexpr ResourceField OneOf(const char* name, std::span<const std::string_view> values) {
  return {.name = name, .type = kText, .values = values};
}

constexpr ResourceField Checked(const char* name, TextCheck check) {
  return {.name = name, .type = kText, .check = check};
}

constexpr ResourceField NumberField(const char* name, FieldType type, int64_t least, int64_t most) {
  return {.name = name, .type = type, .least = least, .most = most};
}

// A number that is not negative.
constexpr ResourceField CountField(const char* name, FieldType type = kInt32) {
  const bool is_short = type == kInt32;
  return NumberField(
      name, type, 0,
      is_short ? std::numeric_limits<int32_t>::max() : std::numeric_limits<int64_t>::max());
}

constexpr ResourceField ListOf(ResourceField field) {
  field.is_list = true;
  return field;
}

constexpr ResourceField Required(ResourceField field) {
  field.is_required = true;
  return field;
}

constexpr ResourceField AtMost(size_t entries, ResourceField field) {
  field.entries_max = entries;
  return field;
}

}  // namespace resource_fields

}  // namespace caip::gcs
