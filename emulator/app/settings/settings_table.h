#pragma once
// The settings of an emulator, one row for each: the key in the config file, the flag, the option
// that it sets, the line of --help and the line of docs/configuration.md.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "emulator/app/settings/options.h"

namespace caip::app {

/// The reason why a value is rejected. `member`: the key inside a mapping; "": the value itself.
struct SettingProblem {
  std::string member;
  std::string text;
};
using SettingProblems = std::vector<SettingProblem>;

/// What runs of check, scenario and explore (emulator/scenario/run_settings.h) do with a setting.
enum class InRuns {
  kUnset,     // an error: each row of the table says it
  kUsed,      // they use it, from flags and configuration
  kScenario,  // a scenario states it itself; only a flag changes it
  kUnused     // it is about the server or about jobs beside each other
};

struct Setting {
  enum class Form { kOne, kRepeated, kSwitch };

  std::string_view key = {};     // in the config file: "queue_delay"
  std::string_view flag = {};    // "--queue-delay"; "": only the config file has the setting
  std::string_view values = {};  // the placeholder of the flag's value in --help: "MODEL"
  std::string_view help = {};    // the flag's line of --help
  Form form = Form::kOne;        // the form of the flag
  InRuns in_runs = InRuns::kUnset;
  /// Sets the option from a value of the file or of a flag: a text, or `true` for a switch.
  SettingProblems (*set)(const Json& value, EmulatorOptions& options) = nullptr;
  /// The value of the flag so that it means the same in any directory; null: it does anyway.
  std::string (*complete)(const std::string& value) = nullptr;
  std::string_view sample = {};    // in docs/configuration.md; further lines are indented
  bool sample_is_default = false;  // the sample is the default value
  std::string_view note = {};      // the comment after the sample
  std::string_view heading = {};   // the comment above the first setting of a group
};

/// All settings, in the order of docs/configuration.md.
std::span<const Setting> Settings();

/// nullptr: no setting has this key.
const Setting* FindSetting(std::string_view key);

/// The settings as docs/configuration.md lists them: a commented config file.
std::string SampleConfigFile();

}  // namespace caip::app
