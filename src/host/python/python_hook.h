#pragma once
// The module that Python replicas run at their start. It makes each record of `logging` one entry
// of the job's log. process/log_entry.cc reads its output.

#include <string_view>

#include "base/files.h"
#include "base/result.h"
#include "host/python/interpreters.h"

namespace caip::host {

/// The text of sitecustomize.py; module.cmake writes the body.
std::string_view PythonHookText();

/// Writes the hook below the state directory, unless it exists, and returns the directory for
/// PYTHONPATH: `<state>/python/<digest of the hook>`. Another version of the hook has
/// another directory, so the hook of a running replica never changes. Any thread, several at once.
Result<Path> InstallPythonHook(const Path& state);

/// Compiles the hook in `directory` for Python of the interpreter's version, unless it is compiled.
/// On a machine the directory is read-only, so that each Python process would compile the hook
/// again (2 ms). Failures are ignored. Runs `interpreter` if it has to compile; any thread, several
/// at once.
void CompilePythonHook(const Path& directory, const Interpreter& interpreter);

}  // namespace caip::host
