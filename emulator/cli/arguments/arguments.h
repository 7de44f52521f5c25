#pragma once
// argv -> Command: the grammar of the command line, its help and its usage errors.

#include <string>
#include <vector>

#include "emulator/cli/commands/commands.h"
#include "emulator/scenario/job_words.h"

namespace caip::cli {

/// Parses `words` (without the program's name). Usage errors become a PrintCommand with gcloud's
/// text and exit code 2. `completion` becomes a PrintCommand with exit code 0. Reads nothing but
/// argv.
Command ParseArguments(const std::vector<std::string>& words);

/// Parses the arguments of the command that creates jobs of the kind: those after `jobs submit
/// training JOB`, or after `ai custom-jobs create`, whose name of a job may be missing. It is a
/// scenario::ReadJobWords. The message of an error is that of the usage error, without the name of
/// a command.
Result<scenario::JobWords> ReadJobWords(const harness::JobKind& kind,
                                        const std::vector<std::string>& words);

/// Parses a whole command line of `jobs submit training`, with or without a program's name before
/// it. The message of an error is that of the usage error, without the name of a command.
Result<SubmitCommand> ReadSubmitLine(std::vector<std::string> words);

}  // namespace caip::cli
