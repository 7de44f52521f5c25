#pragma once
// The kinds of steps and the words of each, and base64 for bytes that a YAML text cannot hold.

#include <optional>
#include <set>
#include <string>

#include "conformance/format/document.h"

namespace conform {

/// The word in `step` that names its kind: "call", "create", "await", "run" or "command".
std::optional<std::string> KindOf(const Json& step);
/// All words of all kinds of steps.
const std::set<std::string>& StepWords();
/// A mistake in a step, with its place; nullopt if there is none.
std::optional<Problem> MistakeInStep(const Document& document, const std::string& pointer,
                                     const Json& step);

/// Expands `expect: accepted` and `expect: {refused: field}` for the matcher.
Json ExpectationOf(const Json& step);

/// Decodes base64 (RFC 4648); nullopt if the text is not valid.
std::optional<std::string> FromBase64(const std::string& text);

}  // namespace conform
