#include "emulator/api/vertex/read_mask.h"

#include <span>

#include "base/json.h"
#include "base/text.h"
#include "emulator/api/errors.h"
#include "emulator/api/json_messages.h"

namespace caip::api {
namespace {

// Copies the field at the path. A list on the way has it in each of its elements. False: the
// message has no such field, and `to` stays unchanged.
bool CopyField(const Json& from, std::span<const std::string> path, Json& to) {
  if (path.empty()) {
    to = from;
    return true;
  }
  if (from.is_array()) {
    Json list = to.is_array() ? to : Json(from.size(), Json::object());
    bool found = false;
    for (size_t i = 0; i < from.size(); ++i) found = CopyField(from[i], path, list[i]) || found;
    if (found) to = std::move(list);
    return found;
  }
  const std::string& name = path.front();
  const Json* field = from.is_object() ? Member(from, name) : nullptr;
  if (!field) return false;
  const Json* earlier = Member(to, name);
  Json part = earlier ? *earlier : Json();
  if (!CopyField(*field, path.subspan(1), part)) return false;
  to[name] = std::move(part);
  return true;
}

}  // namespace

Result<ReadMask> ReadMask::Parse(std::string_view text) {
  ReadMask mask;
  if (Trim(text).empty() || Trim(text) == "*") return mask;
  for (const std::string& path : Split(text, ',')) {
    std::vector<std::string> names;
    for (const std::string& name : Split(Trim(path), '.')) {
      if (name.empty()) return errors::ReadMaskBroken(text);
      names.push_back(JsonName(name));
    }
    mask.paths_.push_back(std::move(names));
  }
  return mask;
}

Json ReadMask::Of(const Json& message) const {
  if (paths_.empty()) return message;
  Json chosen = Json::object();
  for (const std::vector<std::string>& path : paths_) CopyField(message, path, chosen);
  return chosen;
}

}  // namespace caip::api
