#include "fakes/gcs/service/stored_values.h"

#include <utility>

#include "base/json.h"

namespace caip::gcs {
namespace {

/// Walks through one stored resource.
class StoredReader {
 public:
  StoredReader(const StoredRules& rules, std::vector<std::string>* refused)
      : rules_(rules), refused_(refused) {}

  Json Members(const Json& stored, const ResourceMessage& message, const std::string& path) {
    Json kept = Json::object();
    for (const auto& [name, value] : stored.items()) {
      const std::string place = path.empty() ? name : path + "." + name;
      if (const ResourceField* field = FindField(message, name)) {
        Json valid = Value(value, *field, place);
        if (!valid.is_null()) kept[name] = std::move(valid);
      } else if (rules_.is_derived != nullptr && rules_.is_derived(name, value)) {
        kept[name] = value;
      } else {
        Refuse(place);
      }
    }
    return kept;
  }

 private:
  // null: nothing of the value is valid.
  Json Value(const Json& value, const ResourceField& field, const std::string& path) {
    const bool is_message = field.type == FieldType::kMessage && !field.is_list;
    const bool is_map = field.type == FieldType::kMessageMap;
    if (field.is_list && value.is_array()) return Entries(value, field, path);
    if (is_map && value.is_object()) return MapEntries(value, field, path);
    if (is_message && value.is_object()) return Members(value, *field.message, path);
    if (!field.is_list && !is_message && !is_map) {
      Violations broken;
      Json read = ReadValue(value, field, path, &broken);
      if (broken.empty()) return read;
    }
    return Refuse(path);
  }

  Json Entries(const Json& list, const ResourceField& field, const std::string& path) {
    Json kept = Json::array();
    for (size_t i = 0; i < list.size(); ++i) {
      const std::string place = path + "[" + std::to_string(i) + "]";
      Violations broken;
      Json entry = ReadValue(list[i], field, place, &broken);
      const bool has_types = broken.empty() && !entry.is_null();
      if (has_types && rules_.check_entry) rules_.check_entry(entry, place, &broken);
      if (has_types && broken.empty()) {
        kept.push_back(std::move(entry));
      } else {
        Refuse(place);
      }
    }
    return kept;
  }

  Json MapEntries(const Json& map, const ResourceField& field, const std::string& path) {
    Json kept = Json::object();
    for (const auto& [key, value] : map.items()) {
      Violations broken;
      ReadValue(Json{{key, value}}, field, path, &broken);
      if (!broken.empty() || value.is_null()) {
        Refuse(path + "." + key);
      } else {
        kept[key] = Members(value, *field.message, path + "." + key);
      }
    }
    return kept;
  }

  Json Refuse(const std::string& path) {
    if (refused_ != nullptr) refused_->push_back(path);
    return {};
  }

  const StoredRules& rules_;
  std::vector<std::string>* refused_;
};

}  // namespace

Json ValidMembers(const Json& stored, const ResourceMessage& message, const StoredRules& rules,
                  std::vector<std::string>* refused) {
  return StoredReader(rules, refused).Members(stored, message, "");
}

}  // namespace caip::gcs
