#pragma once
// The module that Python replicas run at their start, so that each record of `logging` becomes one
// entry of the job's log. What it writes is read by process/log_entry.cc.

#include <string_view>

#include "base/files.h"
#include "base/result.h"

namespace caip::host {

/// The text of sitecustomize.py; module.cmake writes the body.
std::string_view PythonHookText();

/// Writes the hook below the state directory, unless it is there, and returns the directory that
/// belongs into PYTHONPATH: `<state>/python/<digest of the hook>`. Another version of the hook has
/// another directory, so what replicas run never changes under them. Any thread, several at once.
Result<Path> InstallPythonHook(const Path& state);

}  // namespace caip::host
