#pragma once
// Runs a tool of caip, such as pip. When the tool has ended, or caip was killed, every process that
// the tool has started is killed, daemons too.
//
//   caip-launcher --tool FILE ARGV0 ARGUMENT...
//
// It has the descriptors kToolLives, which hangs up when caip has ended or wants the end of the
// tool, and kToolFailure, which gets the errno if FILE cannot be run, and is closed when it runs.
// SIGTERM is passed on to the tool's process group. It ends as the tool does.

namespace caip::host::launcher {

/// `words`: FILE, ARGV0, ..., nullptr.
[[noreturn]] void GuardTool(char* const* words);

}  // namespace caip::host::launcher
