#pragma once
// The words of the commands that create jobs: `jobs submit training`, `ai custom-jobs create` and
// `ai hp-tuning-jobs create`. Scenarios and other commands make jobs of them.

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "client/submit_flags.h"
#include "client/vertex/preparation.h"
#include "emulator/app/settings/emulator_flags.h"
#include "harness/scenario/scenario.h"

namespace caip::scenario {

/// The meaning of the words: the job, and the flags of the emulator that runs it.
struct JobWords {
  std::variant<client::SubmitRequest, client::vertex::CustomJobRequest,
               client::vertex::TuningJobRequest>
      request;
  app::EmulatorFlags emulator;
};

/// Parses the arguments of the command that creates jobs of the kind. Only the command line knows
/// their grammar, so a scenario that has such arguments gets this function.
using ReadJobWords = std::function<Result<JobWords>(const harness::JobKind& kind,
                                                    const std::vector<std::string>& words)>;

/// How the words name files.
struct FileWords {
  Path folder;  // in which relative paths start
  /// The word for a file or folder, whose path is complete.
  std::function<std::string(const Path& path)> file;
  /// The word for one of the user's arguments, which follow `--`.
  std::function<std::string(const std::string& word)> user_arg;
};

/// Replaces the names of local files in the values of flags. Objects of buckets stay.
std::vector<std::string> WithFiles(const std::vector<std::string>& words, const FileWords& how);

/// The local directories of packages that the words name.
std::vector<std::string> PackageFolders(const std::vector<std::string>& words);

/// The kind of job that flags of a user describe: that of a flag which only one command has, or of
/// the file of --config.
const harness::JobKind& KindOfFlags(const std::vector<std::string>& words);

/// A command with the paths of the files that its words name relative to `folder`. A program
/// without a slash is looked up in PATH, as in shells. The word after `-m` is the name of a module.
std::vector<std::string> CommandFrom(const Path& folder, const std::vector<std::string>& command);

/// Parses the words of a scenario. Relative paths in them start at the scenario's folder.
Result<JobWords> ReadWordsOf(const harness::Scenario& scenario, const ReadJobWords& read);

}  // namespace caip::scenario
