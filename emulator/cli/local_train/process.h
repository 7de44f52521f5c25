#pragma once
// A process of `local train`: it inherits the terminal, and ends with caip even if caip is killed.

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace caip::cli {

/// A process to start.
struct LocalProcess {
  std::vector<std::string> argv;
  std::string directory;
  std::pair<std::string, std::string> variable;  // added to the inherited environment
  bool foreground = true;  // reads from the terminal; other processes read nothing
};

/// Starts the process and returns its id. The error says why it cannot be started.
Result<int> StartLocalProcess(const LocalProcess& process);

/// Waits for a process, and forwards SIGINT and SIGTERM to it. Returns its exit code, or 128 + N if
/// signal N ended it.
int WaitForLocalProcess(int pid);

/// Kills a process and its process group, and waits for its end.
void KillLocalProcess(int pid);

}  // namespace caip::cli
