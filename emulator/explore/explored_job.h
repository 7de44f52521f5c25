#pragma once
// `caip explore -- WORDS`: the words become a scenario, which the findings extend.

#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "harness/scenario/scenario.h"

namespace caip::cli {

/// Writes it into `out`, under a name of its own, and returns its path. What the words name is
/// looked for from the current directory; what need not be said for a check (docs/check.md) need
/// not be said here. Errors are in the client's words, and are the user's.
Result<Path> WriteExploredJob(const std::vector<std::string>& words, const Path& out);

/// The scenario of that file as it is run: its packages are built into `workshop` once, for all
/// runs, and not by each.
Result<harness::Scenario> BuiltOnce(harness::Scenario scenario,
                                    const std::vector<std::string>& words, const Path& workshop);

}  // namespace caip::cli
