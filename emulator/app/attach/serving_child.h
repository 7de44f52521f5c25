#pragma once
// A command with an emulator inside is two processes: the one that the user started, which waits,
// and a child, which does the work and can keep running as the server after the command.

#include <memory>

#include "base/files.h"
#include "base/result.h"

namespace caip::app {

/// The child's side. In a session of its own: Ctrl-C, SIGTERM and SIGHUP reach the waiting process,
/// which passes them on; so none of them can take an emulator from others by itself. One thread.
class ServingChild {
 public:
  /// The caller goes on in the child. The process that called never returns: it ends with the
  /// child's exit code, or as soon as Release tells it one. No thread may run beside the caller's.
  static Result<std::unique_ptr<ServingChild>> Begin();
  ~ServingChild();
  ServingChild(const ServingChild&) = delete;
  ServingChild& operator=(const ServingChild&) = delete;

  /// The command is over, and no signal to it reaches us any more: they are ignored outside of
  /// guards. This process goes on without terminal, its words in the log.
  void Release(int exit_code, const Path& log);

 private:
  ServingChild() = default;
};

/// While it lives, what is started does not inherit the command's standard error: it may outlive
/// the command, and whoever reads that at the other end of a pipe waits for the last who holds it.
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
