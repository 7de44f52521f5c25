#pragma once
// A command with an emulator inside consists of two processes: the process that the user started,
// which waits, and a child, which does the work and can keep running as the server after the
// command.

#include <memory>

#include "base/files.h"
#include "base/result.h"

namespace caip::app {

/// The child process. It has its own session: Ctrl-C, SIGTERM and SIGHUP reach the waiting process,
/// which forwards them. So a signal to the command alone cannot end an emulator that others use.
/// One thread.
class ServingChild {
 public:
  /// Returns in the child. The calling process never returns: it ends with the child's exit code,
  /// or with the one that Release reports. No other thread may run.
  static Result<std::unique_ptr<ServingChild>> Begin();
  ~ServingChild();
  ServingChild(const ServingChild&) = delete;
  ServingChild& operator=(const ServingChild&) = delete;

  /// Ends the waiting process with this exit code. From then on signals are ignored outside of
  /// guards, and this process runs without a terminal, with its output in the log.
  void Release(int exit_code, const Path& log);

 private:
  ServingChild() = default;
};

/// While it exists, new processes do not inherit the command's standard error. They may outlive the
/// command, and a reader of the pipe would wait until the last of them ends.
class StderrSilencer {
 public:
  StderrSilencer();
  ~StderrSilencer();
  StderrSilencer(const StderrSilencer&) = delete;
  StderrSilencer& operator=(const StderrSilencer&) = delete;

 private:
  Fd kept_;
};

}  // namespace caip::app
