#include "base/clock.h"

#include <algorithm>

namespace caip {

MonotonicTime MonotonicNow() { return std::chrono::steady_clock::now(); }

Instant SystemClock::Now() const { return std::chrono::system_clock::now(); }

void SystemClock::WaitUntil(Instant deadline) {
  std::unique_lock lock(mutex_);
  if (deadline == kNever) {
    wake_.wait(lock, [this] { return interrupted_; });
  } else {
    // Waits for a duration: a step of the system's clock must not stretch the wait.
    wake_.wait_for(lock, deadline - SystemClock::Now(), [this] { return interrupted_; });
  }
  interrupted_ = false;
}

void SystemClock::Interrupt() {
  {
    std::lock_guard lock(mutex_);
    interrupted_ = true;
  }
  wake_.notify_all();
}

Instant VirtualClock::Now() const {
  std::lock_guard lock(mutex_);
  return now_;
}

void VirtualClock::WaitUntil(Instant deadline) {
  std::unique_lock lock(mutex_);
  if (deadline == kNever) wake_.wait(lock, [this] { return interrupted_; });
  if (!interrupted_) now_ = std::max(now_, deadline);
  interrupted_ = false;
}

void VirtualClock::Interrupt() {
  {
    std::lock_guard lock(mutex_);
    interrupted_ = true;
  }
  wake_.notify_all();
}

void VirtualClock::Advance(Duration by) {
  std::lock_guard lock(mutex_);
  now_ += by;
}

void VirtualClock::AdvanceTo(Instant earliest) {
  std::lock_guard lock(mutex_);
  now_ = std::max(now_, earliest);
}

Instant LeapClock::Now() const {
  std::lock_guard lock(offset_mutex_);
  return SystemClock::Now() + offset_;
}

void LeapClock::WaitUntil(Instant deadline) {
  {
    std::unique_lock lock(mutex_);
    if (interrupted_) {
      interrupted_ = false;
      return;
    }
  }
  Duration offset;
  {
    std::lock_guard lock(offset_mutex_);
    const Instant now = SystemClock::Now() + offset_;
    if (holders_ == 0 && deadline != kNever && deadline > now) offset_ += deadline - now;
    offset = offset_;
  }
  SystemClock::WaitUntil(deadline == kNever ? kNever : deadline - offset);
}

void LeapClock::AdvanceTo(Instant earliest) {
  std::lock_guard lock(offset_mutex_);
  offset_ = std::max(offset_, earliest - SystemClock::Now());
}

void LeapClock::Hold() {
  std::lock_guard lock(offset_mutex_);
  ++holders_;
}

void LeapClock::Release() {
  {
    std::lock_guard lock(offset_mutex_);
    --holders_;
  }
  Interrupt();  // a waiting thread may leap now
}

}  // namespace caip
