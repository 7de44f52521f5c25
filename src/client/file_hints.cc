#include "client/file_hints.h"

#include <algorithm>

#include "base/encoding.h"
#include "base/json.h"
#include "base/text.h"
#include "base/time_text.h"
#include "client/submit_errors.h"
#include "ml/schema/job_schema.h"

namespace caip::client {
namespace {

using google::FieldKind;
using google::FieldSchema;
using google::MessageSchema;

std::vector<std::string> InputNames(const MessageSchema& type) {
  std::vector<std::string> names;
  for (const FieldSchema& field : type.fields) {
    if (!field.output_only) names.emplace_back(field.name);
  }
  return names;
}

// Adds each place in `type` and below it that has a field with this name: "trainingInput".
void AddPlaces(const MessageSchema& type, const std::string& path, std::string_view name,
               std::vector<std::string>& places) {
  for (const FieldSchema& field : type.fields) {
    if (field.output_only) continue;
    if (field.name == name) places.push_back(path);
    if (!field.message) continue;
    AddPlaces(*field.message, path + "." + std::string(field.name), name, places);
  }
}

// The places of a training job where a field with this name may stand. "": the Job itself.
std::vector<std::string> PlacesOfField(std::string_view name) {
  std::vector<std::string> places;
  for (const FieldSchema& field : ml::JobSchema().fields) {
    if (field.name == name && !field.output_only) places.emplace_back();
  }
  AddPlaces(ml::TrainingInputSchema(), "trainingInput", name, places);
  return places;
}

class HintFinder {
 public:
  std::vector<FileHint> hints;

  void Message(const MessageSchema& type, const Json& value, const std::string& pointer) {
    if (!value.is_object()) return;
    for (const auto& [key, member] : value.items()) {
      const std::string place = pointer + PointerStep(key);
      const FieldSchema* field = type.Find(key);
      if (!field) {
        AddUnknown(type, key, place);
        continue;
      }
      const bool has_proto_name = field->name != key;
      if (has_proto_name && pointer.empty() && field->message) {
        hints.push_back({place, true, submit_errors::ProtoNameUsed(field->name)});
      }
      const Json list = field->repeated && member.is_array() ? member : Json::array({member});
      for (size_t i = 0; i < list.size(); ++i) {
        const bool is_element = field->repeated && member.is_array();
        Value(*field, list[i], is_element ? place + "/" + std::to_string(i) : place);
      }
    }
  }

 private:
  void Value(const FieldSchema& field, const Json& value, const std::string& place) {
    if (field.kind == FieldKind::kMessage) return Message(*field.message, value, place);
    if (!value.is_string()) return;
    const auto text = value.get<std::string>();
    if (field.kind == FieldKind::kEnum) {
      const auto names = field.enumeration->names;
      if (std::find(names.begin(), names.end(), text) != names.end()) return;
      hints.push_back({place, false, submit_errors::NoSuchEnumValue(value, names)});
    } else if (field.kind == FieldKind::kDuration && !ParseProtoDuration(text)) {
      const auto meant = ParseDuration(text);
      const std::string seconds = meant ? ProtoDuration(*meant) : "";
      hints.push_back({place, false, submit_errors::NotAProtoDuration(text, seconds)});
    }
  }

  void AddUnknown(const MessageSchema& type, const std::string& key, const std::string& place) {
    const std::vector<std::string> places = PlacesOfField(key);
    const std::vector<std::string> known = InputNames(type);
    hints.push_back({place, true,
                     places.empty()
                         ? submit_errors::NoSuchField(key, NearestName(key, known), known)
                         : submit_errors::FieldOfOtherPlace(key, places)});
  }
};

}  // namespace

std::vector<FileHint> FindFileHints(const Json& file) {
  HintFinder finder;
  finder.Message(ml::JobSchema(), file, "");
  return std::move(finder.hints);
}

}  // namespace caip::client
