#pragma once
// The words of a command line before their command is known.

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace caip::cli {

/// As in argparse, a number or a text with a blank is not a flag, even if it starts with a dash.
bool LooksLikeFlag(const std::string& word);

/// A walk over the tree of commands, from its root.
struct CommandWalk {
  std::function<bool()> is_at_command;          // nothing is below it
  std::function<bool(const std::string&)> has;  // below where it is
  std::function<void(const std::string&)> enter;
  /// Whether a flag takes a value; nullopt for flags that are not known there.
  std::function<std::optional<bool>(const std::string&)> takes_value;
};

/// Flags may stand before their command: `caip --state DIR jobs list`. Moves them after it. A word
/// after such a flag is its value, unless it is the command.
std::vector<std::string> WithFlagsAfterCommand(const std::vector<std::string>& words,
                                               const CommandWalk& walk);

}  // namespace caip::cli
