#pragma once
// A command that carries the emulator is two processes: the one its user started, which waits, and
// a child, which does the work and may live on as the server when the command is over.

#include <memory>

#include "base/files.h"
#include "base/result.h"

namespace caip::app {

/// The child's side. In a session of its own: Ctrl-C, SIGTERM and SIGHUP reach the waiting process,
/// which passes them on; so none of them can take an emulator from others by itself. One thread.
class Carrier {
 public:
  /// The caller goes on in the child. The process that called never returns: it ends with the
  /// child's exit code, or as soon as Release tells it one. No thread may run beside the caller's.
  static Result<std::unique_ptr<Carrier>> Begin();
  ~Carrier();
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;

  /// The command is over, and no signal to it reaches us any more: they are ignored outside of
  /// guards. This process goes on without terminal, its words in the log.
  void Release(int exit_code, const Path& log);

 private:
  Carrier() = default;
};

/// While it lives, what is started does not inherit the command's standard error: it may outlive
/// the command, and whoever reads that at the other end of a pipe waits for the last who holds it.
class Unheard {
 public:
  Unheard();
  ~Unheard();
  Unheard(const Unheard&) = delete;
  Unheard& operator=(const Unheard&) = delete;

 private:
  Fd kept_;
};

}  // namespace caip::app
