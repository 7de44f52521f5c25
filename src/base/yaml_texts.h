#pragma once
// The texts about mistakes in YAML: one maker for each mistake, named after it. YamlError of
// base/errors.h puts the place in front and the line below.

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace caip::yaml_texts {

// What ParseYaml rejects.
std::string SecondDocument();
std::string OtherVersion();
std::string AliasInsideItself();
std::string UnknownTag(std::string_view tag);
std::string ValueNotOfTag(std::string_view value);
std::string BareEquals();
std::string KeyNotText();
std::string MergeNotAMapping();
std::string TooLargeWithAliases(size_t nodes_max, size_t bytes_max);
std::string NestedTooDeep(int levels_max);

// Clearer texts for the parser's reports of common mistakes.
std::string ListNotClosed();
std::string MappingNotClosed();
std::string TabInIndentation();
std::string LineNotInMapping();
std::string LineNotInList();
std::string SecondColon();
/// A `key: value` where a plain text of several lines goes on.
std::string ColonInContinuedText();
std::string WrongBracket();
std::string QuoteNotClosed();
std::string ListInsideLine();

/// A place in a text. Lines and columns count from 0.
struct Spot {
  int line = 0;
  int column = 0;
};

/// kInvalidArgument: the parser stopped at `spot`, and said why. A tab that indents that line, or
/// the line above, is the cause of whatever it said. Common reports become clearer.
Error ParserError(std::string_view text, std::string_view name, Spot spot, const std::string& said);

}  // namespace caip::yaml_texts
