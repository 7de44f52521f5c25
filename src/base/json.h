#pragma once
// Reads and writes JSON text. No function throws.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"

// json.cc compiles its functions once, for all files that call them.
extern template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace caip {

/// Deeper documents are refused, so that recursion stays bounded. No real request comes near.
inline constexpr int kJsonDepthMax = 100;

/// Parses RFC 8259 text. kInvalidArgument with line and column where it is broken or too deep.
Result<Json> ParseJson(std::string_view text);

/// `{"a":1}`, without blanks. Bytes that are not valid UTF-8 become U+FFFD.
std::string CompactJson(const Json& value);

/// `{"a": 1, "b": [2]}` on one line with Python's separators, as json.dumps writes it.
std::string PythonJson(const Json& value);

/// Indented by two blanks, as Google's APIs answer with prettyPrint.
std::string PrettyJson(const Json& value);

/// The member, or nullptr when `object` is not an object or lacks it.
const Json* Member(const Json& object, std::string_view name);

/// The member as text, or `otherwise` when it is missing or not a string.
std::string StringOr(const Json& object, std::string_view name, std::string_view otherwise = "");

/// True when the member is the JSON value true.
bool IsTrue(const Json& object, std::string_view name);

/// The member as an integer, or `otherwise`. Reads Google's int64 texts ("12") too.
long long IntOr(const Json& object, std::string_view name, long long otherwise);

}  // namespace caip
