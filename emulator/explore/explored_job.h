#pragma once
// `caip explore -- WORDS`: the words become a scenario, which the findings extend.

#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "client/submit_flags.h"
#include "harness/scenario/scenario.h"

namespace caip::explore {

/// Writes the scenario into `out`, under a name of its own, and returns its path. Relative paths in
/// the words start at the current directory. What a check need not be given (docs/check.md) need
/// not be given here. Errors have the client's texts, and are the user's.
Result<Path> WriteExploredJob(const std::vector<std::string>& words, const Path& out,
                              const client::ReadSubmitWords& read);

/// The scenario of that file as it is run: its packages are built into `workshop` once, for all
/// runs.
Result<harness::Scenario> WithPackagesBuilt(harness::Scenario scenario,
                                            const std::vector<std::string>& words,
                                            const Path& workshop,
                                            const client::ReadSubmitWords& read);

}  // namespace caip::explore
