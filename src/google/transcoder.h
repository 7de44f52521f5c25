#pragma once
// Converts between the JSON of an API and a plain tree, by the tables of message_schema.h (the
// proto3 JSON mapping). A plain tree has the proto's names. Its integers are integers, its enums
// are names, its times and durations are nanoseconds, and its bytes are raw text. It has no null
// and no unknown member.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "google/message_schema.h"

namespace caip::google {

/// Reads `value` as a message. Leaves out each member that it cannot read and adds a violation,
/// whose path begins with `path` ("job").
Json ReadMessage(const Json& value, const MessageSchema& schema, const std::string& path,
                 std::vector<FieldViolation>& violations);

/// The request body without the fields that only the service sets: a client that sends a received
/// resource back may have any value there.
Json WithoutOutputFields(const Json& body, const MessageSchema& schema);

/// Removes the members that have the default value of their type: answers do not show them, unless
/// they belong to a oneof.
void RemoveDefaults(Json& plain, const MessageSchema& schema);

/// An integer, which may have a fraction of zero or be a text: 2, 2.0, "2"; nullopt for any other
/// value.
std::optional<int64_t> ReadInteger(const Json& value);

struct WriteStyle {
  bool camel_case = true;
  int fraction_digits = 0;  // of timestamps
  bool enum_numbers = false;
};

/// Writes a plain tree as the API's JSON, in the order of the schema.
Json WriteMessage(const Json& plain, const MessageSchema& schema, const WriteStyle& style);

}  // namespace caip::google
