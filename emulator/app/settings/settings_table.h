#pragma once
// The settings of an emulator, one row each: the key of the config file, the flag, the option that
// it sets, the line of --help and the line of docs/configuration.md.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "emulator/app/settings/options.h"

namespace caip::app {

/// Why a value cannot be taken. `member`: the key inside a mapping; "" the value itself.
struct SettingProblem {
  std::string member;
  std::string text;
};
using SettingProblems = std::vector<SettingProblem>;

struct Setting {
  enum class Form { kOne, kRepeated, kSwitch };

  std::string_view key = "";     // in the config file: "queue_delay"
  std::string_view flag = "";    // "--queue-delay"; "" only the file has it
  std::string_view values = "";  // what stands for the flag's value in --help: "MODEL"
  std::string_view help = "";    // the flag's line of --help
  Form form = Form::kOne;        // of the flag
  /// Takes a value of the file, or a flag's: a text, or `true` of a switch.
  SettingProblems (*set)(const Json& value, EmulatorOptions& options) = nullptr;
  std::string_view sample = "";    // in docs/configuration.md; further lines are indented
  bool sample_is_default = false;  // the sample is what holds without the setting
  std::string_view note = "";      // the comment after the sample
  std::string_view heading = "";   // the comment above, where a group begins
};

/// In the order of docs/configuration.md.
std::span<const Setting> Settings();

/// nullptr: there is no setting with this key.
const Setting* FindSetting(std::string_view key);

/// The settings as docs/configuration.md lists them: a commented config file.
std::string SampleConfigFile();

}  // namespace caip::app
