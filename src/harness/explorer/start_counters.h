#pragma once
// Recognizes values that count the starts of a job. They change after a restart, and nothing is
// wrong.

#include <set>
#include <string>

#include "harness/expectations/expectation.h"

namespace caip::harness {

/// The texts are equal except for their only number, which is one higher in `after`.
bool CountsStarts(const std::string& before, const std::string& after);

/// The same for texts with more numbers, the first from a single start: only one number differs,
/// and it is 0 or 1 in `once`.
bool CountsSecondStart(const std::string& once, const std::string& twice);

/// Patterns (WithoutNumbers) of names that contain the number of an attempt: as many of them are
/// left over as are missing.
std::set<std::string> RenamedPatterns(const Evidence& baseline, const Evidence& run);

}  // namespace caip::harness
