#pragma once
// Partial matching: what a case does not mention, it does not judge. An object matches when each
// member that is named matches; a list when it has the same length and each element matches; all
// else when it is equal. Beyond that, a few matchers, written as an object with one key:
//
//   $any: true          is there, whatever it is      $absent: true    is not there
//   $contains: X        a text holds it; a list holds an element that matches X; a map a key
//   $matches: REGEX     a text matches it, whole      $one_of: [X, Y]  matches one of them
//   $not: X             does not match X              $all: [X, Y]     matches each of them
//   $exactly: X         equal, nothing beside it      $each: X         each element matches X
//   $length: N          list, map or text so long     $json: X         a text that is JSON matching
//   X $unordered: [X, Y]  a list of these, in any order $in_order: [X, Y] elements matching these
//   occur $at_least: X        number or text not below X       in this order, others between them
//   $absolute: true     an http(s) URL

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace conform {

using Json = nlohmann::json;

/// One difference: where (as "body.error.code"), what was expected and what was there.
struct Mismatch {
  std::string where;
  std::string text;
};

/// Everything in which `actual` is not as expected. `actual` is null for what is absent.
std::vector<Mismatch> Match(const Json& expected, const Json* actual,
                            const std::string& where = "");

/// What is wrong with an expectation itself, for the reader of case files: an unknown matcher, a
/// regular expression that is none. nullopt: nothing.
std::optional<std::string> MistakeIn(const Json& expected);

}  // namespace conform
