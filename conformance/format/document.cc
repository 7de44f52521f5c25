#include "conformance/format/document.h"

#include <yaml-cpp/yaml.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "conformance/problems.h"

namespace conform {
namespace {

bool IsInteger(const std::string& text) {
  const size_t start = text[0] == '-' ? 1 : 0;
  return text.size() > start && text.size() < 19 &&
         text.find_first_not_of("0123456789", start) == std::string::npos;
}

// Plain scalars have the types of YAML 1.2's core schema: `no`, `y` and dates are texts.
Json ScalarOf(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (node.Tag() == "!" || text.empty()) return node.Tag() == "!" ? Json(text) : Json();
  if (text == "null" || text == "~") return Json();
  if (text == "true") return true;
  if (text == "false") return false;
  if (IsInteger(text)) return std::stoll(text);
  if (text.find_first_not_of("0123456789.-+eE") == std::string::npos) {
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    if (end && *end == '\0') return number;
  }
  return text;
}

}  // namespace

// Reads YAML's nodes and records the place of each.
class DocumentReader {
 public:
  explicit DocumentReader(Document& document) : document_(document) {}

  Result<Json> Walk(const YAML::Node& node, const std::string& pointer) {
    Note(node, pointer);
    if (node.IsMap()) return Map(node, pointer);
    if (node.IsSequence()) return Sequence(node, pointer);
    return node.IsScalar() ? ScalarOf(node) : Json();
  }

 private:
  void Note(const YAML::Node& node, const std::string& pointer) {
    if (node.Mark().is_null()) return;
    document_.places_.try_emplace(pointer, Place{node.Mark().line + 1, node.Mark().column + 1});
  }

  Result<Json> Map(const YAML::Node& node, const std::string& pointer) {
    Json object = Json::object();
    for (const auto& member : node) {
      const std::string key = member.first.Scalar();
      const std::string below = Below(pointer, key);
      const bool twice = object.contains(key);
      if (twice) document_.places_.erase(below);  // report the second one
      Note(member.first, below);                  // show a mistake at its key
      if (twice) return document_.Complain(below, problems::DuplicateKey(key));
      Result<Json> value = Walk(member.second, below);
      if (!value.ok()) return value;
      object[key] = std::move(value).value();
    }
    return object;
  }

  Result<Json> Sequence(const YAML::Node& node, const std::string& pointer) {
    Json array = Json::array();
    for (size_t i = 0; i < node.size(); ++i) {
      Result<Json> value = Walk(node[i], Below(pointer, i));
      if (!value.ok()) return value;
      array.push_back(std::move(value).value());
    }
    return array;
  }

  Document& document_;
};

Result<Document> Document::Read(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::stringstream text;
  if (!stream || !(text << stream.rdbuf())) return problems::FileUnreadable(file);
  return Parse(file, text.str());
}

Result<Document> Document::Parse(const std::string& file, const std::string& text) {
  Document document;
  document.file_ = file;
  document.text_ = text;
  try {
    Result<Json> root = DocumentReader(document).Walk(YAML::Load(text), "");
    if (!root.ok()) return root.problem();
    document.root_ = std::move(root).value();
  } catch (const YAML::Exception& broken) {
    return document.ComplainAt({broken.mark.line + 1, broken.mark.column + 1}, broken.msg);
  }
  return document;
}

Place Document::PlaceOf(const std::string& pointer) const {
  for (std::string at = pointer;; at.resize(at.rfind('/'))) {
    const auto found = places_.find(at);
    if (found != places_.end()) return found->second;
    if (at.empty()) return {};
  }
}

Problem Document::Complain(const std::string& pointer, const std::string& message) const {
  return ComplainAt(PlaceOf(pointer), message);
}

Problem Document::ComplainAt(Place place, const std::string& message) const {
  std::stringstream lines(text_);
  std::string line;
  for (int i = 0; i < place.line; ++i) std::getline(lines, line);
  return problems::AtPlace(file_, place.line, place.column, message, line);
}

std::string Below(const std::string& pointer, const std::string& key) {
  std::string escaped;
  for (char c : key) escaped += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return pointer + "/" + escaped;
}

std::string Below(const std::string& pointer, size_t index) {
  return pointer + "/" + std::to_string(index);
}

}  // namespace conform
