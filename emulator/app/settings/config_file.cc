#include "emulator/app/settings/config_file.h"

#include "base/json.h"
#include "base/text.h"
#include "base/yaml.h"
#include "emulator/app/errors.h"
#include "emulator/app/settings/settings_table.h"

namespace caip::app {
namespace {

constexpr size_t kConfigBytesMax = 1 << 20;

// A step of a JSON pointer.
std::string PointerStep(const std::string& name) {
  return "/" + ReplaceAll(ReplaceAll(name, "~", "~0"), "/", "~1");
}

// "config.yaml:3:7"; the file alone where the value has no place of its own.
std::string PlaceOf(const YamlDocument& document, const Path& file, const std::string& pointer) {
  const auto place = document.places.find(pointer);
  if (place == document.places.end()) return file.string();
  return file.string() + ":" + std::to_string(place->second.line) + ":" +
         std::to_string(place->second.column);
}

std::vector<std::string> SettingKeys() {
  std::vector<std::string> keys;
  for (const Setting& setting : Settings()) keys.emplace_back(setting.key);
  return keys;
}

}  // namespace

Status ReadConfigFile(const Path& file, EmulatorOptions& options) {
  ASSIGN_OR_RETURN(const std::string text, ReadFileUpTo(file, kConfigBytesMax));
  ASSIGN_OR_RETURN(const YamlDocument document, ParseYaml(text, file.string()));
  if (document.value.is_null()) return Ok{};
  if (!document.value.is_object()) return errors::ConfigNotAMapping(file);
  std::vector<FieldViolation> violations;
  for (const auto& [key, value] : document.value.items()) {
    const std::string pointer = PointerStep(key);
    const Setting* setting = FindSetting(key);
    if (!setting) {
      violations.push_back(
          errors::UnknownSetting(key, PlaceOf(document, file, pointer), SettingKeys()));
      continue;
    }
    for (const SettingProblem& problem : setting->set(value, options)) {
      const bool is_member = !problem.member.empty();
      const std::string place =
          PlaceOf(document, file, pointer + (is_member ? PointerStep(problem.member) : ""));
      violations.push_back(
          errors::BadSetting(is_member ? problem.member : key, place, problem.text));
    }
  }
  if (violations.empty()) return Ok{};
  return errors::BadConfigFile(std::move(violations));
}

}  // namespace caip::app
