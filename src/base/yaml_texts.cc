#include "base/yaml_texts.h"

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

std::string ListNotClosed() { return "a `[` is not closed"; }

std::string MappingNotClosed() { return "a `{` is not closed"; }

std::string TabInIndentation() { return "tabs cannot indent. Use blanks."; }

std::string LineNotInMapping() {
  return "this line is not a `key: value` of the mapping above. Check its indentation.";
}

std::string LineNotInList() {
  return "this line is not a `- ` item of the list above. Check its indentation.";
}

std::string SecondColon() {
  return "the line contains a second `: `. Quote the text that contains it.";
}

std::string ListInsideLine() { return "a list cannot begin here. Put it on a line of its own."; }

}  // namespace caip::yaml_texts
