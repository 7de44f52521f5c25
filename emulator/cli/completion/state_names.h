#pragma once
// The names of jobs, buckets, objects and images in a state directory, for completion.

#include <string>
#include <vector>

#include "emulator/cli/completion/candidates.h"

namespace caip::cli {

/// Reads the state directory itself: no emulator is started or asked, nothing is written, and what
/// cannot be read is left out. It is a NameSource.
std::vector<std::string> NamesInState(Values::Kind kind, const NamePlace& place,
                                      const std::string& begun);

}  // namespace caip::cli
