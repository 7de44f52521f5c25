#pragma once
// A limit on the time in which an emulator ends.

#include <signal.h>

#include <functional>
#include <stop_token>

#include "emulator/app/attach/interrupt.h"

namespace caip::app {

/// Ends the process with `exit_code` if it still exists after 1.5 seconds. Requests that are being
/// answered, processes that the kernel does not end and a full disk cannot delay the end any longer
/// then. Nothing acknowledged is lost: the emulator survives SIGKILL at any time, and caip-launcher
/// kills the replicas of an emulator that has gone. One at a time; it uses SIGALRM.
class StopDeadline {
 public:
  /// kAtBegin: the time starts with Begin().
  enum class Counts { kAtOnce, kAtBegin };
  explicit StopDeadline(int exit_code, Counts counts = Counts::kAtOnce);
  StopDeadline(const StopDeadline&) = delete;
  StopDeadline& operator=(const StopDeadline&) = delete;
  ~StopDeadline();

  /// Any thread.
  void Begin();

 private:
  struct sigaction before_ {};
};

/// While it exists, SIGINT, SIGTERM and SIGHUP begin a StopDeadline. So an emulator that starts
/// ends soon, whatever its start waits for. One thread.
class StartDeadline {
 public:
  explicit StartDeadline(int exit_code);

 private:
  StopDeadline deadline_;
  StopOnInterrupt interrupt_;
  std::stop_callback<std::function<void()>> begin_;  // destroyed first: it uses the others
};

}  // namespace caip::app
