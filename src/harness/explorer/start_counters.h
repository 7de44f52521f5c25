#pragma once
// What tells how often a job was started, and so is another behind a restart with nothing wrong.

#include <set>
#include <string>

#include "harness/expectations/expectation.h"

namespace caip::harness {

/// Equal texts but for their only number, and that is one higher.
bool CountsStarts(const std::string& before, const std::string& after);

/// The same of two texts of which the first tells of a single start: it may say more than that, but
/// only one of its numbers differs, and that is 0 or 1 at first.
bool CountsSecondStart(const std::string& once, const std::string& twice);

/// Names with a number of the attempt in them: as many of the pattern (WithoutNumbers) are left
/// over as are missing.
std::set<std::string> RenamedPatterns(const Evidence& baseline, const Evidence& run);

}  // namespace caip::harness
