// The part of fakes/metadata/tree.h that renders.

#include <cctype>

#include "base/json.h"
#include "fakes/metadata/tree.h"

namespace caip::metadata {
namespace {

// "numeric-project-id" -> "numericProjectId".
std::string CamelCase(std::string_view name) {
  std::string camel;
  bool upper = false;
  for (char c : name) {
    if (c == '-') {
      upper = true;
    } else {
      camel += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
      upper = false;
    }
  }
  return camel;
}

Json NumberJson(const std::string& digits) {
  const Json parsed = Json::parse(digits, nullptr, /*allow_exceptions=*/false);
  return parsed.is_number_integer() ? parsed : Json(digits);
}

std::string ListedName(const Node& node) {
  return node.IsDirectory() ? node.name + "/" : node.name;
}

void AddLines(const Node& node, const std::string& path, std::string& text) {
  switch (node.kind) {
    case Node::Kind::kDirectory:
    case Node::Kind::kIndexed:
      for (const Node& child : node.children) {
        AddLines(child, path.empty() ? child.name : path + "/" + child.name, text);
      }
      break;
    case Node::Kind::kLines:
      for (const std::string& line : node.lines) text += path + " " + line + "\n";
      break;
    case Node::Kind::kOnDemand:
      break;
    default:
      text += path + " " + node.text + "\n";
  }
}

}  // namespace

std::string ListingText(const Node& directory) {
  std::string text;
  for (const Node& child : directory.children) text += ListedName(child) + "\n";
  return text;
}

Json ListingJson(const Node& directory) {
  Json names = Json::array();
  for (const Node& child : directory.children) names.push_back(ListedName(child));
  return names;
}

std::string ValueText(const Node& leaf) {
  if (leaf.kind != Node::Kind::kLines) return leaf.text;
  std::string text;
  for (const std::string& line : leaf.lines) text += line + "\n";
  return text;
}

Json ToJson(const Node& node) {
  switch (node.kind) {
    case Node::Kind::kText:
      return node.text;
    case Node::Kind::kNumber:
      return NumberJson(node.text);
    case Node::Kind::kLines:
      return node.lines;
    case Node::Kind::kOnDemand:
      return nullptr;
    case Node::Kind::kIndexed: {
      Json list = Json::array();
      for (const Node& child : node.children) list.push_back(ToJson(child));
      return list;
    }
    case Node::Kind::kDirectory:
      break;
  }
  Json object = Json::object();
  for (const Node& child : node.children) {
    if (child.kind == Node::Kind::kOnDemand) continue;
    object[child.own_name ? child.name : CamelCase(child.name)] = ToJson(child);
  }
  return object;
}

std::string RecursiveText(const Node& directory) {
  std::string text;
  AddLines(directory, "", text);
  return text;
}

}  // namespace caip::metadata
