#pragma once
// Ctrl-C, SIGTERM and SIGHUP as a flag that may be asked, and a descriptor that may be waited for.

#include <stop_token>
#include <thread>

#include "base/files.h"

namespace caip::app {

/// From its making to its end, SIGINT, SIGTERM and SIGHUP (where that is not ignored, as under
/// nohup) set a flag instead of ending the process. They may be nested; an inner one knows what the
/// outer ones saw. The outermost is made and ended
/// by one thread.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  bool interrupted() const;
  /// The signal that came first; 0 none.
  int signal() const;
  /// Readable once interrupted; for poll.
  int descriptor() const;

  /// A guard lives, and was interrupted.
  static bool Pending();

  /// What the signals do outside of guards; SIG_DFL by itself. One that is ignored stays so.
  static void SetOutside(void (*handler)(int));
};

/// While it lives, SIGINT, SIGTERM and SIGHUP ask for the stop of its token. One thread.
class StopOnInterrupt {
 public:
  StopOnInterrupt();
  ~StopOnInterrupt();
  StopOnInterrupt(const StopOnInterrupt&) = delete;
  StopOnInterrupt& operator=(const StopOnInterrupt&) = delete;
  std::stop_token token() const { return source_.get_token(); }

 private:
  InterruptGuard guard_;
  std::stop_source source_;
  Fd over_;  // an eventfd
  std::thread watcher_;
};

}  // namespace caip::app
