#include "emulator/app/attach/stop_deadline.h"

#include <unistd.h>

#include <chrono>

namespace caip::app {
namespace {

constexpr std::chrono::milliseconds kStopTime{1500};

}  // namespace

StopDeadline::StopDeadline(int exit_code)
    : thread_([this, exit_code] {
        std::unique_lock lock(mutex_);
        const bool has_ended = changed_.wait_for(lock, kStopTime, [this] { return has_ended_; });
        if (!has_ended) ::_exit(exit_code);
      }) {}

StopDeadline::~StopDeadline() {
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

}  // namespace caip::app
