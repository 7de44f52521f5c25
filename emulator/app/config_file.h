#pragma once
// The emulator's config file: YAML, with every mistake told by line and column.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "emulator/app/options.h"

namespace caip::app {

/// Options that are texts of a small language, as flags or the file write them.
struct ChoiceTexts {
  bool from_file = true;
  std::optional<std::string> launcher = {};
  std::optional<std::string> gpus = {};
  std::optional<std::string> fake_gpus = {};
  std::optional<std::string> addressing = {};
  std::optional<std::string> storage_view = {};
  std::optional<std::string> gs_front = {};
  std::optional<std::string> isolation = {};
  std::optional<std::string> durability = {};
  std::optional<std::string> access_log = {};
  std::optional<std::string> queue_delay = {};
  std::optional<std::string> provision_delay = {};
  std::optional<std::string> restart_delay = {};
  std::optional<std::string> seed = {};
  /// "queue_delay" in a file, "--queue-delay" on the command line.
  std::string Name(std::string_view flag) const;
};

/// Reads `file` into `options` (what is plain) and the answer (what is a small language).
/// Unknown keys and wrong types are all told at once.
Result<ChoiceTexts> ReadConfigFile(const Path& file, EmulatorOptions& options);

/// Words of a command as a POSIX shell splits them: blanks, '..', "..", backslash. Nothing is
/// expanded. nullopt on an open quote.
std::optional<std::vector<std::string>> ShellWords(std::string_view text);

}  // namespace caip::app
