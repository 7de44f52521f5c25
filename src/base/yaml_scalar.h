#pragma once
// What a plain YAML scalar is: text, number, boolean, nothing or a date. YAML 1.1's rules.

#include <optional>
#include <string_view>

#include "base/json_fwd.h"

namespace caip {

/// The types that YAML 1.1 gives to plain scalars by their looks alone.
enum class ScalarType { kText, kNull, kBool, kInt, kFloat, kTimestamp, kMerge, kValue };

/// The type of an unquoted scalar without a tag.
ScalarType ScalarTypeOf(std::string_view text);

/// `text` read as a boolean, integer or float whatever it looks like ("!!int \"5\""); nullopt where
/// it is none. Integers beyond 64 bits become floats.
std::optional<Json> ScalarAs(ScalarType type, std::string_view text);

}  // namespace caip
