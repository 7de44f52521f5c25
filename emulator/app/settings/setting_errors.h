#pragma once
// Why the value of a setting cannot be taken. A text follows the name of the setting.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "emulator/app/settings/settings_table.h"

namespace caip::app::errors {

SettingProblem NotAText();
SettingProblem NotTrueOrFalse();
SettingProblem NotAListOfTexts();
SettingProblem NotAMapping();
SettingProblem NotOneOf(std::string_view value, const std::vector<std::string>& choices);
SettingProblem Because(const Error& cause);
SettingProblem NotADuration(std::string_view value);
SettingProblem NotASeed(std::string_view value);
SettingProblem NotANumberUpTo(uint64_t most, std::string_view zero);
/// Of --map-image.
SettingProblem NotAnImage(std::string_view value);
SettingProblem NotACommand(std::string_view image);
SettingProblem NotAnInterpreter(std::string_view version);
SettingProblem NotACompanion(std::string_view name, const std::vector<std::string>& known);
SettingProblem NotAnSdkPath();

}  // namespace caip::app::errors
