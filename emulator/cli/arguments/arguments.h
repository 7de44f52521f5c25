#pragma once
// argv -> Command: the grammar of the command line, its help and its usage errors.

#include <string>
#include <vector>

#include "emulator/cli/commands/commands.h"

namespace caip::cli {

/// Reads `words` (without the program's name). Wrong words give a PrintCommand with gcloud's text
/// and exit code 2; `--help` and `completion` give one with exit code 0. Asks nobody but argv.
Command ParseArguments(const std::vector<std::string>& words);

/// client::ReadSubmitWords: what follows `jobs submit training JOB`. The message of an error is the
/// usage error's, without the name of a command.
Result<client::SubmitRequest> ReadSubmitWords(const std::vector<std::string>& words);

}  // namespace caip::cli
