#include "emulator/front/partial_response.h"

#include "base/json.h"
#include "emulator/api/errors.h"
#include "emulator/front/errors.h"

namespace caip::front {
namespace {

constexpr int kDepthMax = 50;
constexpr size_t kLengthMax = 64 << 10;
constexpr const char* kEvery = "*";

}  // namespace

// A node without members is chosen whole.
struct FieldSelection::Node {
  std::map<std::string, Node, std::less<>> members;
  bool whole = false;

  // "a/b" and "a" together choose a.
  Node& Member(std::string_view name) { return members[std::string(name)]; }
};

// Reads a selection from left to right.
class SelectionReader {
 public:
  using Node = FieldSelection::Node;
  explicit SelectionReader(std::string_view text) : text_(text) {}

  Status Read(Node& root) {
    RETURN_IF_ERROR(Selection(root, 0));
    if (at_ < text_.size()) return Broken(errors::kSelectorContinues);
    return Ok{};
  }

 private:
  Status Selection(Node& parent, int depth) {
    if (depth > kDepthMax) return Broken(errors::kSelectorTooDeep);
    while (true) {
      RETURN_IF_ERROR(Item(parent, depth));
      if (!Take(',')) return Ok{};
    }
  }

  Status Item(Node& parent, int depth) {
    Node* node = &parent;
    for (int steps = depth;; ++steps) {
      if (steps > kDepthMax) return Broken(errors::kSelectorTooDeep);
      const std::string_view name = Name();
      if (name.empty()) return Broken(errors::kSelectorWithoutName);
      node = &node->Member(name);
      if (!Take('/') && !Take('.')) break;
    }
    if (!Take('(')) {
      node->whole = true;
      return Ok{};
    }
    RETURN_IF_ERROR(Selection(*node, depth + 1));
    if (!Take(')')) return Broken(errors::kSelectorOpen);
    return Ok{};
  }

  std::string_view Name() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    const size_t end = std::min(text_.find_first_of(",/.() ", at_), text_.size());
    const std::string_view name = text_.substr(at_, end - at_);
    at_ = end;
    return name;
  }

  bool Take(char sign) {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    if (at_ == text_.size() || text_[at_] != sign) return false;
    ++at_;
    return true;
  }

  Error Broken(std::string_view why) const { return api::errors::SelectorBroken(text_, at_, why); }

  std::string_view text_;
  size_t at_ = 0;
};

namespace {

// The types of an API by name.
using Schemas = const Json&;

const Json* Resolved(Schemas schemas, const Json* type) {
  if (!type) return nullptr;
  if (const Json* reference = Member(*type, "$ref")) {
    return Member(schemas, reference->get<std::string>());
  }
  if (StringOr(*type, "type") == "array") return Resolved(schemas, Member(*type, "items"));
  return type;
}

template <typename Node>
Status Check(const Node& node, Schemas schemas, const Json* type, const std::string& path) {
  if (node.members.empty()) return Ok{};
  type = Resolved(schemas, type);
  const Json* properties = type ? Member(*type, "properties") : nullptr;
  const Json* others = type ? Member(*type, "additionalProperties") : nullptr;
  const bool anything = type && StringOr(*type, "type") == "any";
  for (const auto& [name, member] : node.members) {
    const std::string below = path.empty() ? name : path + "/" + name;
    if (anything) continue;
    if (name == kEvery && (properties || others)) {
      // The selection after a star must match at least one property.
      bool found = member.members.empty() || others != nullptr;
      for (const auto& property : properties ? *properties : Json::object()) {
        found = found || Check(member, schemas, &property, below).ok();
      }
      if (!found) return api::errors::SelectorUnknown(below);
      continue;
    }
    const Json* found = properties ? Member(*properties, name) : nullptr;
    if (!found) found = others;
    if (!found) return api::errors::SelectorUnknown(below);
    RETURN_IF_ERROR(Check(member, schemas, found, below));
  }
  return Ok{};
}

template <typename Node>
Json Choose(const Json& value, const Node& node) {
  if (node.whole) return value;
  if (value.is_array()) {
    Json chosen = Json::array();
    for (const Json& element : value) chosen.push_back(Choose(element, node));
    return chosen;
  }
  if (!value.is_object()) return value;
  Json chosen = Json::object();
  const auto every = node.members.find(kEvery);
  for (const auto& [name, member] : value.items()) {
    const auto own = node.members.find(name);
    if (own == node.members.end() && every == node.members.end()) continue;
    const Node& below = own == node.members.end() ? every->second : own->second;
    // A plain value has no members to select.
    if (!below.whole && !member.is_structured()) continue;
    chosen[name] = Choose(member, below);
  }
  return chosen;
}

}  // namespace

FieldSelection::FieldSelection(std::unique_ptr<Node> root) : root_(std::move(root)) {}
FieldSelection::FieldSelection(FieldSelection&&) noexcept = default;
FieldSelection& FieldSelection::operator=(FieldSelection&&) noexcept = default;
FieldSelection::~FieldSelection() = default;

Result<FieldSelection> FieldSelection::Parse(std::string_view text) {
  if (text.size() > kLengthMax) {
    return api::errors::SelectorBroken(text.substr(0, 40), kLengthMax, errors::kSelectorTooLong);
  }
  auto root = std::make_unique<Node>();
  RETURN_IF_ERROR(SelectionReader(text).Read(*root));
  return FieldSelection(std::move(root));
}

Status FieldSelection::CheckAgainst(const Json& schemas, const std::string& message) const {
  const Json type = {{"$ref", message}};
  return Check(*root_, schemas, &type, "");
}

Json FieldSelection::Of(const Json& answer) const { return Choose(answer, *root_); }

}  // namespace caip::front
