#pragma once
// The kinds of steps, and the words of each.

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

}  // namespace conform
