#pragma once
// A process of `local train` or `local predict`: it inherits the terminal, and ends with caip even
// if caip is killed.

#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace caip::cli {

/// A process to start.
struct LocalProcess {
  std::vector<std::string> argv;
  std::string directory;
  std::pair<std::string, std::string> variable;  // added to the inherited environment
  bool foreground = true;  // reads from the terminal; other processes read nothing
  int output = -1;         // a descriptor for its standard output; -1: that of caip
};

/// The ends of a pipe. Other processes do not inherit them.
struct Pipe {
  Fd reads;
  Fd writes;
};
Result<Pipe> MakeLocalPipe();
/// Reads until all writers have closed the pipe.
std::string ReadLocalPipe(int reads);

/// Starts the process and returns its id. The error says why it cannot be started.
Result<int> StartLocalProcess(const LocalProcess& process);

/// Waits for a process, and forwards SIGINT and SIGTERM to it. Returns its exit code, or 128 + N if
/// signal N ended it.
int WaitForLocalProcess(int pid);

/// Kills a process and its process group, and waits for its end.
void KillLocalProcess(int pid);

}  // namespace caip::cli
