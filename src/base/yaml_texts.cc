#include "base/yaml_texts.h"

#include <yaml-cpp/exceptions.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/errors.h"

namespace caip::yaml_texts {

std::string SecondDocument() {
  return "a second document starts here. A file has one document. Remove the '---'.";
}

std::string OtherVersion() { return "only YAML 1.1 is read. Remove the %YAML line."; }

std::string AliasInsideItself() { return "an alias is used inside the value that it names"; }

std::string UnknownTag(std::string_view tag) {
  return "the tag '" + std::string(tag) + "' cannot become JSON. Remove it.";
}

std::string ValueNotOfTag(std::string_view value) {
  return "'" + std::string(value) + "' does not have the type that its tag names";
}

std::string BareEquals() { return "a bare '=' has a meaning of its own in YAML 1.1. Quote it."; }

std::string KeyNotText() { return "a key must be text, not a list or a mapping"; }

std::string MergeNotAMapping() { return "'<<' takes a mapping or a list of mappings"; }

std::string TooLargeWithAliases(size_t nodes_max, size_t bytes_max) {
  return "the document is too large with its aliases written out (more than " +
         std::to_string(nodes_max) + " values or " + std::to_string(bytes_max >> 20) + " MiB)";
}

std::string NestedTooDeep(int levels_max) {
  return "the document is nested deeper than " + std::to_string(levels_max) + " levels";
}

std::string ListNotClosed() { return "a `[` is not closed. Add the `]`."; }

std::string MappingNotClosed() { return "a `{` is not closed. Add the `}`."; }

std::string TabInIndentation() {
  return "a tab indents this line. YAML allows only spaces there. Replace the tab with spaces.";
}

std::string LineNotInMapping() {
  return "this line is not a `key: value` of the mapping above. Check its indentation.";
}

std::string LineNotInList() {
  return "this line is not a `- ` item of the list above. Check its indentation.";
}

std::string SecondColon() {
  return "the line contains a second `: `. Quote the text that contains it.";
}

std::string ColonInContinuedText() {
  return "this line continues the text of the line above, so it cannot have a key. Indent it as "
         "the key above, or end the line above with a `:`.";
}

std::string WrongBracket() {
  return "this bracket closes nothing that is open. Close each `[` with `]` and each `{` with `}`.";
}

std::string QuoteNotClosed() { return "a quoted text is not closed. Add the closing quote."; }

std::string ListInsideLine() { return "a list cannot begin here. Put it on a line of its own."; }

namespace {

// The line of the text, which counts from 0; "" if there are fewer lines. Reads from the start.
std::string_view LineOf(std::string_view text, int line) {
  for (; line > 0; --line) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return "";
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

std::optional<int> IndentingTab(std::string_view line) {
  const size_t text = line.find_first_not_of(" \t\r");
  const size_t tab = line.find('\t');
  if (text == std::string_view::npos || tab == std::string_view::npos || tab > text) {
    return std::nullopt;
  }
  return static_cast<int>(tab);
}

// The parser reports an illegal `:` both for a second one in a line, and for a key where it expects
// more of the text above, mostly because of a wrong indentation.
std::string IllegalColon(std::string_view line, int column) {
  const std::string_view head = line.substr(0, static_cast<size_t>(std::max(column, 0)));
  const bool second = head.find(": ") != std::string_view::npos;
  return second ? SecondColon() : ColonInContinuedText();
}

// Replaces the parser's reports of common mistakes by clearer texts.
std::string InPlainWords(const std::string& said, std::string_view line, int column) {
  namespace reports = YAML::ErrorMsg;
  static const std::map<std::string, std::string> plain = {
      {reports::END_OF_SEQ_FLOW, ListNotClosed()},
      {reports::END_OF_MAP_FLOW, MappingNotClosed()},
      {reports::TAB_IN_INDENTATION, TabInIndentation()},
      {reports::END_OF_MAP, LineNotInMapping()},
      {reports::END_OF_SEQ, LineNotInList()},
      {reports::FLOW_END, WrongBracket()},
      {reports::EOF_IN_SCALAR, QuoteNotClosed()},
      {reports::BLOCK_ENTRY, ListInsideLine()},
  };
  if (said == reports::MAP_VALUE) return IllegalColon(line, column);
  const auto found = plain.find(said);
  return found == plain.end() ? said : found->second;
}

}  // namespace

Error ParserError(std::string_view text, std::string_view name, Spot spot,
                  const std::string& said) {
  for (const int line : {spot.line - 1, spot.line}) {
    if (line < 0) continue;
    if (const std::optional<int> tab = IndentingTab(LineOf(text, line))) {
      return YamlError(text, name, line, *tab, TabInIndentation());
    }
  }
  const std::string what = InPlainWords(said, LineOf(text, spot.line), spot.column);
  return YamlError(text, name, spot.line, spot.column, what);
}

}  // namespace caip::yaml_texts
