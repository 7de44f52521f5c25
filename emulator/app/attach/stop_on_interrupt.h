#pragma once
// Ctrl-C for what knows stop tokens only.

#include <stop_token>
#include <thread>

#include "base/files.h"
#include "emulator/app/attach/interrupt.h"

namespace caip::app {

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
