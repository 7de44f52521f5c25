#pragma once
// Paths of this host that a launch names.

#include <string>
#include <vector>

#include "engine/ports.h"

namespace caip::host {

/// What the arguments, the environment and the needs of the launch name: what exists, and
/// everything below `buckets`. Also the programs and the scripts that it runs, with the files
/// beside them and the repositories around them.
std::vector<std::string> NamedPaths(const engine::ReplicaLaunch& launch,
                                    const std::string& buckets);

}  // namespace caip::host
