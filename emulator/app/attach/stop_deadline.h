#pragma once
// A limit on the time in which an emulator ends.

#include <signal.h>

namespace caip::app {

/// Ends the process with `exit_code` if it still exists after 1.5 seconds. Requests that are being
/// answered, processes that the kernel does not end and a full disk cannot delay the end any longer
/// then. Nothing acknowledged is lost: the emulator survives SIGKILL at any time, and caip-launcher
/// kills the replicas of an emulator that has gone. One at a time; it uses SIGALRM.
class StopDeadline {
 public:
  explicit StopDeadline(int exit_code);
  StopDeadline(const StopDeadline&) = delete;
  StopDeadline& operator=(const StopDeadline&) = delete;
  ~StopDeadline();

 private:
  struct sigaction before_ {};
};

}  // namespace caip::app
