#pragma once
// The kinds of step a case may have, and the words each takes.

#include <optional>
#include <set>
#include <string>

#include "conformance/format/document.h"

namespace conform {

/// "call", "create", "await", "run", "command": the word in `step` that says what it is.
std::optional<std::string> KindOf(const Json& step);
/// The words of any kind of step.
const std::set<std::string>& StepWords();
/// What is wrong with a step as written, with its place; nullopt: nothing.
std::optional<Problem> MistakeInStep(const Document& document, const std::string& pointer,
                                     const Json& step);

/// `expect: accepted` and `expect: {refused: field}` written out for the matcher.
Json ExpectationOf(const Json& step);

}  // namespace conform
