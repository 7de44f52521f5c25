#pragma once
// Where interpreters may be, without running any: names, links, first bytes.

#include <vector>

#include "host/python/interpreters.h"

namespace caip::host {

/// Candidates, best first: configured, $PATH, the system's, pyenv's versions. Shell
/// wrappers (pyenv's shims) are left out unless configured: what they run depends on the directory.
std::vector<InterpreterCandidate> ScanForInterpreters(const InterpreterSearch& search);

}  // namespace caip::host
