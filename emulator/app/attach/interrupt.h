#pragma once
// Ctrl-C, SIGTERM and SIGHUP as a flag, as a descriptor to wait for, and as a stop token.

#include <stop_token>
#include <thread>

#include "base/files.h"

namespace caip::app {

/// While it exists, SIGINT, SIGTERM and SIGHUP set a flag instead of ending the process. SIGHUP
/// stays ignored if it was ignored before, as under nohup. Guards may be nested; all of them share
/// one flag. One thread makes and destroys the outermost guard.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  bool interrupted() const;
  /// The first signal; 0: none.
  int signal() const;
  /// Readable once interrupted; for poll.
  int descriptor() const;

  /// Whether a guard exists and has received a signal.
  static bool Pending();

  /// Sets the handler for signals outside of guards (default: SIG_DFL). An ignored signal stays
  /// ignored.
  static void SetOutside(void (*handler)(int));
};

/// While it exists, SIGINT, SIGTERM and SIGHUP request a stop through its token. One thread.
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
  Fd over_;  // an eventfd that ends the watcher
  std::thread watcher_;
};

}  // namespace caip::app
