#pragma once
// Waiting in the middle of an answer, such that the end of the server ends the waiting, too.

#include <condition_variable>
#include <mutex>

#include "base/clock.h"

namespace caip::gcs {

/// Any thread.
class Pause {
 public:
  /// False when End() came first.
  bool For(Duration duration) {
    std::unique_lock lock(mutex_);
    return !ended_.wait_for(lock, duration, [this] { return over_; });
  }
  /// Ends every pause, those of later calls as well.
  void End() {
    const std::lock_guard lock(mutex_);
    over_ = true;
    ended_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
};

}  // namespace caip::gcs
