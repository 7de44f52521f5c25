#pragma once
// JSON of the API <-> a plain tree, by the tables of message_schema.h (the proto3 JSON mapping).
// In a plain tree the names are the proto's, integers are integers, enums are names, times and
// durations are nanoseconds, bytes are raw text, and what was null or unknown is gone.

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "google/message_schema.h"

namespace caip::google {

/// Reads `value` as a message. What cannot be read is left out, and told in `violations`; their
/// paths begin with `path` ("job").
Json ReadMessage(const Json& value, const MessageSchema& schema, const std::string& path,
                 std::vector<FieldViolation>& violations);

struct WriteStyle {
  bool camel_case = true;
  int fraction_digits = 0;  // of timestamps
};

/// Writes a plain tree as the API shows it, in the order of the schema.
Json WriteMessage(const Json& plain, const MessageSchema& schema, const WriteStyle& style);

}  // namespace caip::google
