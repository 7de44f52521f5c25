#include "conformance/format/substitution.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace conform {
namespace {

std::string TextOf(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// Reads "x*128": x, 128 times.
std::optional<std::string> Repeated(const std::string& name) {
  const size_t star = name.rfind('*');
  if (star == std::string::npos || star == 0 || star + 1 == name.size()) return std::nullopt;
  const std::string times = name.substr(star + 1);
  if (times.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  std::string text;
  for (int i = 0; i < std::stoi(times); ++i) text += name.substr(0, star);
  return text;
}

std::optional<Json> ValueOf(const std::string& name, const Lookup& lookup) {
  if (auto text = Repeated(name)) return Json(*text);
  return lookup(name);
}

// Replaces each ${name} by the text that `at(name)` returns.
template <typename At>
std::string Walk(const std::string& text, At at) {
  std::string out;
  size_t from = 0;
  for (;;) {
    const size_t open = text.find("${", from);
    const size_t close = open == std::string::npos ? open : text.find('}', open);
    if (close == std::string::npos) return out + text.substr(from);
    out += text.substr(from, open - from);
    out += at(text.substr(open + 2, close - open - 2));
    from = close + 1;
  }
}

std::string FillText(const std::string& text, const Lookup& lookup) {
  return Walk(text, [&](const std::string& name) {
    const auto value = ValueOf(name, lookup);
    return value ? TextOf(*value) : "${" + name + "}";
  });
}

Json FillString(const std::string& text, const Lookup& lookup) {
  const bool whole = text.starts_with("${") && text.find('}') + 1 == text.size();
  if (whole) {
    if (auto value = ValueOf(text.substr(2, text.size() - 3), lookup)) return *value;
  }
  return FillText(text, lookup);
}

void Collect(const Json& tree, std::vector<std::string>* names) {
  const auto note = [&](const std::string& text) {
    Walk(text, [&](const std::string& name) {
      if (std::find(names->begin(), names->end(), name) == names->end()) names->push_back(name);
      return std::string();
    });
  };
  if (tree.is_string()) note(tree.get_ref<const std::string&>());
  if (!tree.is_structured()) return;
  for (const auto& [key, value] : tree.items()) {
    if (tree.is_object()) note(key);
    Collect(value, names);
  }
}

Json Series(const Json& form) {
  Json made = Json::array();
  if (const auto range = form.find("$range"); range != form.end()) {
    for (int i = 0; i < range->at(1).get<int>(); ++i) made.push_back(range->at(0).get<int>() + i);
    return made;
  }
  if (const auto lists = form.find("$concat"); lists != form.end()) {
    for (const Json& list : *lists) made.insert(made.end(), list.begin(), list.end());
    return made;
  }
  if (const auto maps = form.find("$merge"); maps != form.end()) {
    made = Json::object();
    for (const Json& map : *maps) made.update(map);
    return made;
  }
  const int times = form.at("times").get<int>();
  if (const auto repeat = form.find("$repeat"); repeat != form.end()) {
    for (int i = 0; i < times; ++i) {
      made.push_back(Fill(*repeat, [&](const std::string& name) {
        return name == "#" ? std::optional<Json>(i) : std::nullopt;
      }));
    }
    return made;
  }
  made = Json::object();
  for (int i = 0; i < times; ++i) {
    made[form.at("$keys").get<std::string>() + std::to_string(i)] = form.at("value");
  }
  return made;
}

bool IsSeries(const Json& tree) {
  return tree.contains("$range") || tree.contains("$repeat") || tree.contains("$keys") ||
         tree.contains("$concat") || tree.contains("$merge");
}

}  // namespace

Json Fill(const Json& tree, const Lookup& lookup) {
  if (tree.is_string()) return FillString(tree.get_ref<const std::string&>(), lookup);
  if (tree.is_array()) {
    Json filled = Json::array();
    for (const Json& element : tree) filled.push_back(Fill(element, lookup));
    return filled;
  }
  if (!tree.is_object()) return tree;
  Json filled = Json::object();
  for (const auto& [key, value] : tree.items()) filled[FillText(key, lookup)] = Fill(value, lookup);
  return filled;
}

std::vector<std::string> NamesIn(const Json& tree) {
  std::vector<std::string> names;
  Collect(tree, &names);
  return names;
}

Json Generate(const Json& tree) {
  if (tree.is_object() && IsSeries(tree)) return Series(tree);
  if (!tree.is_structured()) return tree;
  Json made = tree;
  for (auto& value : made) value = Generate(value);
  return made;
}

}  // namespace conform
