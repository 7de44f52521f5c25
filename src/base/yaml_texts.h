#pragma once
// The texts about mistakes in YAML: one maker for each mistake, named after it. YamlError of
// base/errors.h puts the place in front and the line below.

#include <cstddef>
#include <string>
#include <string_view>

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
std::string ListInsideLine();

}  // namespace caip::yaml_texts
