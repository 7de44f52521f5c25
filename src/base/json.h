#pragma once
// JSON text <-> tree, without exceptions.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"

namespace caip {

/// Deeper documents are refused: no real request comes near, and recursion must end somewhere.
inline constexpr int kJsonDepthMax = 100;

/// Parses RFC 8259 text. kInvalidArgument with line and column where it is broken or too deep.
Result<Json> ParseJson(std::string_view text);

/// `{"a":1}`: no blanks. Bytes that are no UTF-8 become U+FFFD.
std::string CompactJson(const Json& value);

/// `{"a": 1, "b": [2]}` on one line with Python's separators, as json.dumps writes it.
std::string PythonJson(const Json& value);

/// Two blanks of indentation, as Google's APIs answer with prettyPrint.
std::string PrettyJson(const Json& value);

/// The member, or nullptr when `object` is no object or has none of that name.
const Json* Member(const Json& object, std::string_view name);

/// The member as text, or `otherwise` when it is missing or no string.
std::string StringOr(const Json& object, std::string_view name, std::string_view otherwise = "");

/// The member as an integer; Google's int64 texts ("12") are read too.
long long IntOr(const Json& object, std::string_view name, long long otherwise);

}  // namespace caip
