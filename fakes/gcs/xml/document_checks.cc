#include "fakes/gcs/xml/document_checks.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "base/text.h"
#include "fakes/gcs/xml/xml_errors.h"

namespace caip::gcs {
namespace {

constexpr size_t kNameShownMax = 100;

std::string ShownName(const XmlElement& element) {
  return "'" + element.name.substr(0, kNameShownMax) + "'";
}

}  // namespace

Status CheckRoot(const XmlElement& root, std::string_view name) {
  if (root.name == name) return Ok{};
  const std::string wanted = "expected a document '" + std::string(name) + "'";
  return xml_errors::MalformedXml(root.name.empty() ? wanted
                                                    : wanted + ", found " + ShownName(root));
}

Status CheckChildren(const XmlElement& element, std::initializer_list<std::string_view> names) {
  for (const XmlElement& child : element.children) {
    if (std::find(names.begin(), names.end(), child.name) != names.end()) continue;
    return xml_errors::MalformedXml("the element " + ShownName(child) + " in " +
                                    ShownName(element) + " is unknown");
  }
  return Ok{};
}

Result<bool> ReadWord(std::string_view word, std::string_view name, const WordPair& words) {
  if (word == words.yes || word == words.no) return word == words.yes;
  return xml_errors::MalformedXml(std::string(name) + " must be " + std::string(words.yes) +
                                  " or " + std::string(words.no));
}

Result<bool> ReadTruth(std::string_view word, std::string_view name) {
  return ReadWord(LowerCase(word), name, {"true", "false"});
}

Result<std::optional<int64_t>> ReadNumberOf(const XmlElement& element, std::string_view child) {
  if (element.Child(child) == nullptr) return std::optional<int64_t>();
  const std::string word = element.WordOf(child);
  int64_t number = 0;
  const char* end = word.data() + word.size();
  const auto [rest, code] = std::from_chars(word.data(), end, number);
  if (code == std::errc() && rest == end) return std::optional(number);
  return xml_errors::MalformedXml(std::string(child) + " must be a number");
}

}  // namespace caip::gcs
