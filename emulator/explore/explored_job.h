#pragma once
// `caip explore -- ARGUMENTS`: the arguments of a submit become a scenario, which findings extend.

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/result.h"
#include "emulator/scenario/submit_words.h"
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
                              const scenario::ReadSubmitWords& read);

/// The scenario with its packages built into `workshop`, once for all runs.
Result<harness::Scenario> WithPackagesBuilt(harness::Scenario scenario, const Path& workshop,
                                            const scenario::ReadSubmitWords& read);

}  // namespace caip::explore
