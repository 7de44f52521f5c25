#pragma once
// Identifies what an exploration depends on: the scenario and the files of its trainer.

#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "harness/scenario/scenario.h"

namespace caip::explore {

/// Eight hexadecimal digits (FNV-1a) that name a text among a few others.
std::string ShortHash(std::string_view text);

/// Changes when the scenario or a file of its trainer changes: its bytes, its path in the trainer's
/// folder, or whether it is executable. Files in the folders `not_ours`, to which runs write, do
/// not count, and neither do .git, bytecode and event files.
std::string Fingerprint(const harness::Scenario& scenario, const std::vector<Path>& not_ours);

/// The path of `file` relative to `folder`, so that both may be moved together. Absolute if they
/// share only the root.
Path RelativeTo(const Path& folder, const Path& file);

}  // namespace caip::explore
