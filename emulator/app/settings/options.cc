#include "emulator/app/settings/options.h"

#include <map>

#include "base/encoding.h"
#include "base/errors.h"
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

/// A config file, and where its keys and values are.
struct ConfigFile {
  std::string name;
  std::string text;
  YamlDocument document;

  // The mistake with its place, the line and a caret. Only the file's name if the place is unknown.
  std::string Shown(const std::map<std::string, Place>& places, const std::string& pointer,
                    const std::string& mistake) const {
    const auto place = places.find(pointer);
    if (place == places.end()) return name + ": " + mistake;
    return YamlError(text, name, place->second.line - 1, place->second.column - 1, mistake).message;
  }
};

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

Status CheckFlag(const Setting& setting, const std::string& value) {
  EmulatorOptions unused;
  for (const SettingProblem& problem : setting.set(Json(value), unused)) {
    return errors::FlagRefused(problem.text);
  }
  return Ok{};
}

Status ReadConfigFile(const Path& file, SettingChoice chosen, EmulatorOptions& options) {
  ConfigFile config{file.string(), "", {}};
  ASSIGN_OR_RETURN(config.text, ReadFileUpTo(file, kConfigBytesMax));
  ASSIGN_OR_RETURN(config.document, ParseYaml(config.text, config.name));
  const Json& settings = config.document.value;
  if (settings.is_null()) return Ok{};
  if (!settings.is_object()) return errors::ConfigNotAMapping(file);
  std::vector<FieldViolation> violations;
  for (const auto& [key, value] : settings.items()) {
    const std::string pointer = PointerStep(key);
    const Setting* setting = FindSetting(key);
    if (!setting) {
      const std::string mistake = errors::UnknownSetting(key, SettingKeys());
      violations.push_back(
          errors::BadSetting(key, config.Shown(config.document.key_places, pointer, mistake)));
      continue;
    }
    for (const SettingProblem& problem : Set(*setting, value, chosen, options)) {
      const bool is_member = !problem.member.empty();
      const std::string& name = is_member ? problem.member : key;
      const std::string place = pointer + (is_member ? PointerStep(problem.member) : "");
      const std::string mistake = errors::WrongSetting(name, problem.text);
      violations.push_back(
          errors::BadSetting(name, config.Shown(config.document.places, place, mistake)));
    }
  }
  if (violations.empty()) return Ok{};
  return errors::BadConfigFile(std::move(violations));
}

Status CheckReach(const EmulatorOptions& options) {
  if (http::IsLoopback(options.address)) return Ok{};
  if (!http::IsAddress(options.address)) return errors::NotAnAddress(options.address);
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
  if (flags.config && !std::filesystem::exists(*flags.config, ignored)) {
    return errors::ConfigMissing(*flags.config);
  }
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
