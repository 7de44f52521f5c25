#pragma once
// The parts of a help page. The pages of --help, the manual pages and the reference in Markdown
// arrange the same parts.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/cli/arguments/command_shape.h"

namespace caip::cli {

/// What no page repeats for its flags.
inline constexpr std::string_view kSwitchRule =
    "Each flag without a value has an opposite: --no-stream-logs undoes --stream-logs.";

/// The flags below one heading.
struct FlagSection {
  std::string heading;
  std::vector<const FlagShape*> flags;
};

/// The parts of a page. The page must outlive them.
struct HelpParts {
  std::vector<const FlagShape*> words;
  std::vector<FlagSection> sections;  // in the order of their first flags
  /// The settings of the emulator, which pages of commands only point to.
  std::vector<const FlagShape*> settings;
  std::vector<std::string> paragraphs;  // without line breaks
  std::string examples;                 // lines, each with its indentation and line break
};
HelpParts PartsOf(const CommandShape& page);

/// The first three settings: "--state, --emulator-config, --queue-delay"; "": there are none.
std::string FirstSettings(const HelpParts& parts);

/// "caip jobs cancel JOB [flags]"; several lines if the command is used in several ways.
std::vector<std::string> UsageLines(const CommandShape& command);

/// "-r, --recursive" or "--region REGION".
std::string HeadOf(const FlagShape& flag);

/// "(required) Name of the job."
std::string TextOf(const FlagShape& flag);

/// The page of all settings, once for all commands that take them.
std::shared_ptr<const CommandShape> SettingsPage(const CommandShape& root);

}  // namespace caip::cli
