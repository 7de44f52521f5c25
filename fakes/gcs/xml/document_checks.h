#pragma once
// Checks of the XML documents in requests. What a document has beyond its schema would be lost.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "fakes/gcs/xml/xml_text.h"

namespace caip::gcs {

/// The errors are MalformedXML.

/// Checks the name of a document's root element.
Status CheckRoot(const XmlElement& root, std::string_view name);

/// Checks that the element has no children but those with these names.
Status CheckChildren(const XmlElement& element, std::initializer_list<std::string_view> names);

/// Two words, of which an element holds one.
struct WordPair {
  std::string_view yes;
  std::string_view no;
};
inline constexpr WordPair kEnabledOrSuspended{"Enabled", "Suspended"};
inline constexpr WordPair kEnabledOrDisabled{"Enabled", "Disabled"};

/// True for the first word. `name` is the element's.
Result<bool> ReadWord(std::string_view word, std::string_view name, const WordPair& words);

/// Reads true or false, in any case.
Result<bool> ReadTruth(std::string_view word, std::string_view name);

/// Reads the whole number of a child; nullopt if the child is missing.
Result<std::optional<int64_t>> ReadNumberOf(const XmlElement& element, std::string_view child);

}  // namespace caip::gcs
