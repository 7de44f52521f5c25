#include "emulator/app/settings/options.h"

#include "base/encoding.h"
#include "base/json.h"
#include "base/random.h"
#include "base/text.h"
#include "base/yaml.h"
#include "emulator/app/errors.h"
#include "emulator/app/settings/settings_table.h"
#include "http/transport/endpoint.h"

namespace caip::app {
namespace {

constexpr size_t kConfigBytesMax = 1 << 20;

// "config.yaml:3:7"; only the file if the value's position is unknown.
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

// Sets the option if the setting is chosen, and checks the value in any case.
SettingProblems Set(const Setting& setting, const Json& value, SettingChoice chosen,
                    EmulatorOptions& options) {
  if (chosen(setting)) return setting.set(value, options);
  EmulatorOptions unused;
  return setting.set(value, unused);
}

void CollectFlags(const EmulatorFlags& flags, SettingChoice chosen, EmulatorOptions& options,
                  std::vector<FieldViolation>& violations) {
  for (const Setting& setting : Settings()) {
    const auto given = flags.settings.find(setting.key);
    if (given == flags.settings.end()) continue;
    for (const std::string& text : given->second) {
      const Json value = setting.form == Setting::Form::kSwitch ? Json(true) : Json(text);
      for (const SettingProblem& problem : Set(setting, value, chosen, options)) {
        violations.push_back(errors::BadFlag(setting.flag, problem.text));
      }
    }
  }
}

}  // namespace

bool IsAnySetting(const Setting&) { return true; }

Status ReadConfigFile(const Path& file, SettingChoice chosen, EmulatorOptions& options) {
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
    for (const SettingProblem& problem : Set(*setting, value, chosen, options)) {
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

Status CheckReach(const EmulatorOptions& options) {
  if (http::IsLoopback(options.address)) return Ok{};
  if (options.allow_all_users) return errors::AddressForbidsAllUsers(options.address);
  if (options.token_file.empty()) return errors::AddressNeedsToken(options.address);
  return Ok{};
}

Status ReadFlags(const EmulatorFlags& flags, SettingChoice chosen, EmulatorOptions& options) {
  std::vector<FieldViolation> violations;
  CollectFlags(flags, chosen, options, violations);
  return violations.empty() ? Status(Ok{}) : Status(errors::BadFlags(std::move(violations)));
}

Result<EmulatorOptions> ReadOptions(const EmulatorFlags& flags, const Path& state,
                                    SettingChoice chosen) {
  EmulatorOptions options;
  options.state = state;
  options.seed = SeedFromSystem();
  const Path default_file = state / "config.yaml";
  std::error_code ignored;
  if (flags.config || std::filesystem::exists(default_file, ignored)) {
    RETURN_IF_ERROR(
        ReadConfigFile(flags.config ? Path(*flags.config) : default_file, chosen, options));
  }
  std::vector<FieldViolation> violations;
  CollectFlags(flags, chosen, options, violations);
  if (!violations.empty()) return errors::BadFlags(std::move(violations));
  return options;
}

}  // namespace caip::app
