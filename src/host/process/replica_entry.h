#pragma once
// Runs a program inside a living replica: in its namespaces, environment and working directory. For
// a person who looks at a job that runs.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/abilities.h"

namespace caip::host {

/// Runs `argv` in the replica with this process's standard streams, and returns its exit code, as a
/// shell (128 + N after a signal). Without arguments it runs a shell. On a terminal, a program on a
/// machine gets a terminal of the machine. In a replica that is a process of this host, the program
/// takes the place of this process, and the function returns only on failure.
/// kNotFound: the replica has ended, or is not on this host. kPermissionDenied: it belongs to
/// another user.
Result<int> RunInReplica(const LivingReplica& replica, std::vector<std::string> argv,
                         const std::function<void(std::string_view)>& tell);

}  // namespace caip::host
