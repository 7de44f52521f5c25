#include "emulator/cli/print/resource_values.h"

#include <algorithm>
#include <map>
#include <memory>

#include "base/json.h"

namespace caip::cli {
namespace {

// job_id -> jobId
std::string CamelCase(const std::string& name) {
  std::string camel;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool raises = name[i] == '_' && i > 0 && i + 1 < name.size();
    if (raises) ++i;
    camel += raises && name[i] >= 'a' && name[i] <= 'z' ? static_cast<char>(name[i] - 32) : name[i];
  }
  return camel;
}

// The name of the member that a key means: the same name, else its camel case.
std::string MemberName(const Json& object, const std::string& name) {
  return object.contains(name) ? name : CamelCase(name);
}

Json From(const Json& value, const std::vector<KeyStep>& path, size_t at) {
  if (at == path.size()) return value;
  const KeyStep& step = path[at];
  if (value.is_array() && step.index) {
    const int64_t size = static_cast<int64_t>(value.size());
    const int64_t index = *step.index < 0 ? *step.index + size : *step.index;
    if (index < 0 || index >= size) return nullptr;
    return From(value[static_cast<size_t>(index)], path, at + 1);
  }
  if (value.is_array()) {
    Json values = Json::array();
    for (const Json& element : value) {
      values.push_back(From(element, path, step.each ? at + 1 : at));
    }
    return values;
  }
  if (step.index || step.each) return nullptr;
  const Json* member = value.is_object() ? Member(value, MemberName(value, step.name)) : nullptr;
  return member ? From(*member, path, at + 1) : Json();
}

// The keys as a tree of the parts to show.
struct Wanted {
  bool all = false;  // everything below this node
  const std::vector<Transform>* transforms = nullptr;
  std::map<std::string, Wanted> members;
  std::map<int64_t, Wanted> elements;
  std::unique_ptr<Wanted> each;
};

void Want(Wanted& root, const FormatKey& key, bool transforms) {
  Wanted* node = &root;
  for (const KeyStep& step : key.path) {
    if (step.index) {
      node = &node->elements[*step.index];
    } else if (step.each) {
      if (!node->each) node->each = std::make_unique<Wanted>();
      node = node->each.get();
    } else {
      node = &node->members[step.name];
    }
  }
  node->all = true;
  if (transforms) node->transforms = &key.transforms;
}

Json Project(const Json& value, const Wanted& wanted);

Json ProjectList(const Json& list, const Wanted& wanted) {
  std::vector<Json> parts(list.size());
  size_t end = 0;
  const auto take = [&](size_t at, const Wanted& part) {
    parts[at] = Project(list[at], part);
    if (!parts[at].is_null()) end = std::max(end, at + 1);
  };
  for (size_t i = 0; wanted.each && i < list.size(); ++i) take(i, *wanted.each);
  const int64_t size = static_cast<int64_t>(list.size());
  for (const auto& [index, part] : wanted.elements) {
    const int64_t at = index < 0 ? index + size : index;
    if (at >= 0 && at < size) take(static_cast<size_t>(at), part);
  }
  if (end == 0) return nullptr;
  Json shown = Json::array();
  for (size_t i = 0; i < end; ++i) shown.push_back(std::move(parts[i]));
  return shown;
}

Json Project(const Json& value, const Wanted& wanted) {
  if (wanted.all) return wanted.transforms ? Transformed(value, *wanted.transforms) : value;
  if (value.is_array()) return ProjectList(value, wanted);
  if (!value.is_object()) return nullptr;
  Json shown = Json::object();
  for (const auto& [name, part] : wanted.members) {
    const std::string member = MemberName(value, name);
    const Json* found = Member(value, member);
    Json projected = found ? Project(*found, part) : Json();
    if (!projected.is_null()) shown[member] = std::move(projected);
  }
  return shown.empty() ? Json() : shown;
}

bool IsDouble(const std::string& name) {
  for (const char* known :
       {"minValue", "maxValue", "discreteValues", "objectiveValue", "consumedMLUnits"}) {
    if (name == known) return true;
  }
  return false;
}

void MakeDoubles(Json& value, bool doubles) {
  if (value.is_object()) {
    for (const auto& item : value.items()) MakeDoubles(item.value(), IsDouble(item.key()));
  } else if (value.is_array()) {
    for (Json& element : value) MakeDoubles(element, doubles);
  } else if (doubles && value.is_number_integer()) {
    value = value.get<double>();
  }
}

}  // namespace

Json ValueAt(const Json& resource, const std::vector<KeyStep>& path) {
  return From(resource, path, 0);
}

Json Projected(const Json& resource, const std::vector<FormatKey>& keys, bool transforms) {
  if (keys.empty()) return resource;
  Wanted root;
  for (const FormatKey& key : keys) Want(root, key, transforms);
  return Project(resource, root);
}

Json WithDoubles(Json resource) {
  MakeDoubles(resource, false);
  return resource;
}

}  // namespace caip::cli
