#pragma once
// The command line and the environment of a replica, as execve takes them.

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/ports.h"

namespace caip::host {

/// Rejects commands and variables that execve cannot take.
Status CheckCommand(const std::vector<std::string>& argv, const run::Environment& environment);

/// Returns NAME=value strings. The marker (orphans.h) is the last one and replaces a variable of
/// its name.
std::vector<std::string> VariablesFor(const engine::ReplicaLaunch& launch,
                                      const std::string& marker);

}  // namespace caip::host
