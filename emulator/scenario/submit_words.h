#pragma once
// The words of `jobs submit training`, of which scenarios and commands make jobs.

#include <functional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "client/submit_flags.h"
#include "emulator/app/settings/emulator_flags.h"
#include "harness/scenario/scenario.h"

namespace caip::scenario {

/// The meaning of the words: the job, and the flags of the emulator that runs it.
struct SubmitWords {
  client::SubmitRequest request;
  app::EmulatorFlags emulator;
};

/// Parses the arguments that follow `jobs submit training JOB`. Only the command line knows their
/// grammar, so a scenario that has such arguments gets this function.
using ReadSubmitWords = std::function<Result<SubmitWords>(const std::vector<std::string>& words)>;

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

/// A command with the paths of the files that its words name relative to `folder`. A program
/// without a slash is looked up in PATH, as in shells. The word after `-m` is the name of a module.
std::vector<std::string> CommandFrom(const Path& folder, const std::vector<std::string>& command);

/// Parses the `submit` words of a scenario. Relative paths in them start at the scenario's folder.
Result<SubmitWords> ReadWordsOf(const harness::Scenario& scenario, const ReadSubmitWords& read);

}  // namespace caip::scenario
