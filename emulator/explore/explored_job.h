#pragma once
// `caip explore -- ARGUMENTS`: the arguments of a command that creates jobs become a scenario,
// which findings extend.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/result.h"
#include "emulator/scenario/job_words.h"
#include "harness/scenario/scenario.h"

namespace caip::explore {

/// The limits of a run of such a job.
struct JobLimits {
  std::optional<Duration> wall = {};   // --run-timeout; default: 10m
  std::optional<Duration> stall = {};  // --stall; default: 1m
  std::optional<Duration> grace = {};  // --grace, from SIGTERM to SIGKILL; default: 5s
};

/// The line of a scenario with these limits.
std::string LimitsText(const JobLimits& limits);

/// Writes the scenario to a new file in `out` and returns the path. Relative paths in `words` start
/// at the current directory. Arguments that are optional for a check (docs/check.md) are
/// optional here. `flags` are those of the command. Errors are about the arguments and have the
/// client's texts.
Result<Path> WriteExploredJob(const std::vector<std::string>& words, const Path& out,
                              const JobLimits& limits, const app::EmulatorFlags& flags,
                              const scenario::ReadJobWords& read);

/// The scenario with its packages built into `workshop`, once for all runs. `warn` gets what is not
/// installed of a local package.
Result<harness::Scenario> WithPackagesBuilt(harness::Scenario scenario, const Path& workshop,
                                            const scenario::ReadJobWords& read,
                                            const std::function<void(const std::string&)>& warn);

}  // namespace caip::explore
