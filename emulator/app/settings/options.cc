#include "emulator/app/settings/options.h"

#include "base/json.h"
#include "base/random.h"
#include "emulator/app/errors.h"
#include "emulator/app/settings/config_file.h"
#include "emulator/app/settings/settings_table.h"

namespace caip::app {
namespace {

void ReadFlags(const EmulatorFlags& flags, EmulatorOptions& options,
               std::vector<FieldViolation>& violations) {
  for (const Setting& setting : Settings()) {
    const auto given = flags.settings.find(setting.key);
    if (given == flags.settings.end()) continue;
    for (const std::string& text : given->second) {
      const Json value = setting.form == Setting::Form::kSwitch ? Json(true) : Json(text);
      for (const SettingProblem& problem : setting.set(value, options)) {
        violations.push_back(errors::BadFlag(setting.flag, problem.text));
      }
    }
  }
}

}  // namespace

Result<EmulatorOptions> ReadOptions(const EmulatorFlags& flags, const Path& state) {
  EmulatorOptions options;
  options.state = state;
  options.seed = SeedFromSystem();
  const Path default_file = state / "config.yaml";
  std::error_code ignored;
  if (flags.config || std::filesystem::exists(default_file, ignored)) {
    RETURN_IF_ERROR(ReadConfigFile(flags.config ? Path(*flags.config) : default_file, options));
  }
  std::vector<FieldViolation> violations;
  ReadFlags(flags, options, violations);
  if (options.isolation == Isolation::kNamespaces && !options.companions.empty()) {
    violations.push_back(errors::CompanionsOutOfReach());
  }
  if (!violations.empty()) return errors::BadFlags(std::move(violations));
  return options;
}

}  // namespace caip::app
