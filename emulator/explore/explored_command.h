#pragma once
// `caip explore -- python3 train.py --out /data/run`: any command becomes a scenario, which
// findings extend.

#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "emulator/explore/explored_job.h"
#include "emulator/explore/exploring.h"
#include "harness/expectations/expectation.h"
#include "harness/scenario/scenario.h"

namespace caip::explore {

/// A command as its user gives it in a shell.
struct ExploredCommand {
  std::vector<std::string> words;  // the program first; harness::kJobDirWord may be in any of them
  std::vector<Path> out_directories = {};  // --out-dir; none: the working directory
  std::string step_regex = {};             // --step-regex
  int64_t ranks = 1;                       // --torchrun N
  JobLimits limits = {};
  std::string step_format = {};  // that was recognized in a run; "" none
};

/// Whether the arguments after `--` are a command, not flags of `jobs submit training`.
bool IsCommand(const std::vector<std::string>& words);

/// The command of words that stand before `--` by mistake: `train.py` runs with python3.
std::vector<std::string> CommandOfWords(std::vector<std::string> words);

/// Writes the scenario to a new file in `out` and returns the path. Relative paths start at the
/// current directory.
Result<Path> WriteExploredCommand(const ExploredCommand& command, const Path& out);

/// What a run of a command without faults shows.
struct TrialRun {
  /// Directories outside the scenario's volumes that the command writes. What programs keep for
  /// themselves (caches, temporary files) does not count.
  std::vector<Path> other_volumes;
  std::string step_format;  // RecognizeSteps
};

/// Runs the command once, without faults. Fails with kCancelled if it is interrupted.
Result<harness::Evidence> RunCommand(const harness::Scenario& scenario,
                                     const ExploreOptions& options);
/// Fails with kFailedPrecondition if the command failed in that run.
Result<TrialRun> ReadTrial(const harness::Evidence& run, const ExploreOptions& options);
/// Both.
Result<TrialRun> TryCommand(const harness::Scenario& scenario, const ExploreOptions& options);

/// Copies the volumes of the scenario, so that all runs begin with them as they are now.
Status KeepVolumes(const harness::Scenario& scenario, ExploreOptions& options);

}  // namespace caip::explore
