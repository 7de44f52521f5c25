#pragma once
// A process of `local train`: inherits our terminal, and dies with us even when we are killed.

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace caip::cli {

/// What to start.
struct LocalProcess {
  std::vector<std::string> argv;
  std::string directory;
  std::pair<std::string, std::string> variable;  // set beside what we have inherited
  bool foreground = true;                        // reads the terminal; others read nothing
};

/// Starts it; its process id. Error: it cannot be started, and why.
Result<int> StartLocalProcess(const LocalProcess& process);

/// Waits for a process; SIGINT and SIGTERM that reach us meanwhile reach it. Its exit code, or
/// 128 + N when signal N ended it.
int WaitForLocalProcess(int pid);

/// Kills a process and what it started in its group, and waits until it is gone.
void KillLocalProcess(int pid);

}  // namespace caip::cli
