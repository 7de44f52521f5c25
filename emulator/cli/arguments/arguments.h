#pragma once
// argv -> Command: the grammar of the command line, its help and its usage errors.

#include <string>
#include <vector>

#include "emulator/cli/commands/commands.h"

namespace caip::cli {

/// Parses `words` (without the program's name). Usage errors become a PrintCommand with gcloud's
/// text and exit code 2; `--help` and `completion` become one with exit code 0. Reads nothing but
/// argv.
Command ParseArguments(const std::vector<std::string>& words);

/// client::ReadSubmitWords: parses the arguments after `jobs submit training JOB`. The message of
/// an error is the usage error's, without the name of a command.
Result<client::SubmitRequest> ReadSubmitWords(const std::vector<std::string>& words);

}  // namespace caip::cli
