#pragma once
// Partial matching: a case does not judge what it does not mention. An object matches if each named
// member matches; a list if it has the same length and each element matches; any other value if it
// is equal. A matcher is an object with one key:
//
//   $any: true            the value is present
//   $absent: true         the value is absent
//   $contains: X          a text contains X; a list has an element that matches X; a map has a key
//   $matches: REGEX       the whole text matches (RE2)
//   $one_of: [X, Y]       matches one of them
//   $all: [X, Y]          matches each of them
//   $not: X               does not match X
//   $exactly: X           equals X, without additional members
//   $each: X              each element matches X
//   $length: N            the length of a list, map or text
//   $json: X              a text that is JSON and matches X
//   $unordered: [X, Y]    a list of these, in any order
//   $in_order: [X, Y]     elements that match these occur in this order, others between them
//   $at_least: X          a number or text that is not less than X
//   $absolute: true       an http(s) URL

#include <optional>
#include <string>
#include <vector>

#include "conformance/json_fwd.h"

namespace conform {

/// One difference: its place (such as "body.error.code"), the expected and the actual value.
struct Mismatch {
  std::string where;
  std::string text;
};

/// All differences between `actual` and `expected`. `actual` is null if the value is absent.
std::vector<Mismatch> Match(const Json& expected, const Json* actual,
                            const std::string& where = "");

/// A mistake in an expectation itself, such as an unknown matcher or an invalid regular expression.
/// nullopt: it is valid.
std::optional<std::string> FindMistake(const Json& expected);

}  // namespace conform
