#pragma once
// Reads and writes the XML that Cloud Storage needs: elements, attributes and text. Prefixes of
// names are skipped. Document types are refused, so entities cannot expand.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace caip::gcs {

/// An element as a tree. `text` is the element's own text with all its blanks, which may belong to
/// the name of an object. The text of an element with children is trimmed.
struct XmlElement {
  std::string name = {};  // without prefix
  std::string text = {};
  std::vector<XmlElement> children = {};
  std::vector<std::pair<std::string, std::string>> attributes = {};

  XmlElement() = default;
  explicit XmlElement(std::string element, std::string content = "")
      : name(std::move(element)), text(std::move(content)) {}

  /// The first child of that name, or nullptr.
  const XmlElement* Child(std::string_view child) const;
  /// The text of the first child of that name, or "".
  std::string TextOf(std::string_view child) const;
  /// The same without outer blanks: for a number, a time, or any other value that has none.
  std::string WordOf(std::string_view child) const;
  std::vector<const XmlElement*> All(std::string_view child) const;

  XmlElement& Add(std::string child, std::string content = "");
  XmlElement& Add(XmlElement child);
};

inline constexpr int kXmlDepthMax = 32;

/// kInvalidArgument gives the position of the mistake.
Result<XmlElement> ParseXml(std::string_view text);

/// "<?xml version='1.0' encoding='UTF-8'?><name>...</name>". Bytes and characters that XML
/// cannot hold become "?".
std::string XmlDocument(const XmlElement& root);

}  // namespace caip::gcs
