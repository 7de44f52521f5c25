#include "fakes/logging/api/update_mask.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "fakes/logging/api/errors.h"
#include "fakes/logging/filter/fields.h"

namespace caip::logging {
namespace {

// The names of the path in camelCase; nullopt: the resource has no such member.
std::optional<std::vector<std::string>> ReadMaskPath(std::string_view path,
                                                     std::span<const ResourceMember> members) {
  std::vector<std::string> names;
  for (const std::string& word : Split(path, '.')) {
    const std::string name = LowerCamelCase(word);
    const auto found = std::find_if(members.begin(), members.end(),
                                    [&](const auto& row) { return row.name == name; });
    if (found == members.end()) return std::nullopt;
    names.push_back(name);
    members = MembersOf(found->type);
  }
  return names;
}

std::string ListMaskPaths(std::span<const ResourceMember> members) {
  std::string list;
  for (const ResourceMember& member : members) {
    const std::string name(member.name);
    list += (list.empty() ? "" : ", ") + name;
    for (const ResourceMember& inner : MembersOf(member.type)) {
      list += ", " + name + "." + std::string(inner.name);
    }
  }
  return list;
}

void CopyMember(const Json& given, std::span<const std::string> path, Json& into) {
  const std::string& name = path.front();
  const Json* value = Member(given, name);
  if (path.size() == 1) {
    into.erase(name);
    if (value) into[name] = *value;
  } else if (value || into.contains(name)) {
    Json inner = into.value(name, Json::object());
    CopyMember(value ? *value : Json::object(), path.subspan(1), inner);
    into[name] = std::move(inner);
  }
}

}  // namespace

Result<UpdateMask> UpdateMask::Read(const http::Request& request,
                                    std::span<const ResourceMember> members,
                                    const std::string& title) {
  UpdateMask mask;
  std::vector<std::string> unknown;
  for (const auto& [name, value] : request.query) {
    if (LowerCamelCase(name) != "updateMask") continue;
    for (const std::string& word : Split(value, ',')) {
      const std::string_view path = Trim(word);
      if (path.empty()) continue;
      if (auto names = ReadMaskPath(path, members)) {
        mask.paths_.push_back(std::move(*names));
      } else {
        unknown.emplace_back(path);
      }
    }
  }
  if (!unknown.empty()) return errors::MaskPathsUnknown(unknown, title, ListMaskPaths(members));
  return mask;
}

Json UpdateMask::Apply(Json present, const Json& given) const {
  for (const std::vector<std::string>& path : paths_) CopyMember(given, path, present);
  return present;
}

}  // namespace caip::logging
