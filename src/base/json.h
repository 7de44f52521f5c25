#pragma once
// Reads and writes JSON text. No function throws.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/json_object.h"
#include "base/result.h"

// json.cc compiles its functions once, for all files that call them.
extern template class nlohmann::basic_json<caip::JsonObject>;

namespace caip {

/// Deeper documents are rejected, so that recursion stays bounded. Real requests are far less deep.
inline constexpr int kJsonDepthMax = 100;

/// Parses RFC 8259 text. kInvalidArgument, with line and column, if the text is not valid or too
/// deep.
Result<Json> ParseJson(std::string_view text);

/// `{"a":1}`, without blanks. Bytes that are not valid UTF-8 become U+FFFD.
std::string CompactJson(const Json& value);

/// `{"a": 1, "b": [2]}` on one line with Python's separators, as json.dumps writes it.
std::string PythonJson(const Json& value);

/// Indented by two blanks, like responses of Google's APIs with prettyPrint.
std::string PrettyJson(const Json& value);

/// The member; nullptr if `object` is not an object or lacks it.
const Json* Member(const Json& object, std::string_view name);

/// The member as text; `otherwise` if it is missing or not a string.
std::string StringOr(const Json& object, std::string_view name, std::string_view otherwise = "");

/// Whether the member is the JSON value true.
bool IsTrue(const Json& object, std::string_view name);

/// The member as an integer, or `otherwise`. Also reads Google's int64 texts ("12").
long long IntOr(const Json& object, std::string_view name, long long otherwise);

}  // namespace caip
