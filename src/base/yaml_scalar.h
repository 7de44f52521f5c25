#pragma once
// The type of a plain YAML scalar: text, number, boolean, null or date. By the rules of YAML 1.1,
// unless a name says otherwise.

#include <optional>
#include <string_view>

#include "base/json_fwd.h"

namespace caip {

/// The types that YAML 1.1 gives to plain scalars by their form alone.
enum class ScalarType { kText, kNull, kBool, kInt, kFloat, kTimestamp, kMerge, kValue };

/// The type of an unquoted scalar without a tag.
ScalarType ScalarTypeOf(std::string_view text);

/// True if the reader of gcloud's YAML 1.2 takes an unquoted scalar for something other than text.
bool IsTypedInYaml12(std::string_view text);

/// Reads `text` as the named type, even if it has the form of another type ("!!int \"5\""). nullopt
/// if it is not a value of that type. Integers beyond 64 bits become floats.
std::optional<Json> ScalarAs(ScalarType type, std::string_view text);

/// False if the text begins with a quote of YAML that nothing in it closes.
bool IsQuoteClosed(std::string_view text);

}  // namespace caip
