#pragma once
// The time of a simulation, and the events that it has scheduled.

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "base/clock.h"

namespace caip::harness {

/// A clock that moves only by calls, and counts its holders.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Instant start) : now_(start) {}
  Instant Now() const override { return now_; }
  void WaitUntil(Instant deadline) override { MoveTo(deadline); }
  void Interrupt() override {}
  void Hold() override { ++holders_; }
  void Release() override { --holders_; }
  void MoveTo(Instant instant) {
    if (instant > now_) now_ = instant;
  }
  void AdvanceTo(Instant earliest) override { MoveTo(earliest); }
  /// As for a process that starts after one whose clock was ahead of the system's.
  void FallBackTo(Instant instant) { now_ = std::min(now_, instant); }
  int holders() const { return holders_; }

 private:
  Instant now_;
  int holders_ = 0;
};

/// The scheduled events of a simulation, by time and then by the order in which they were added.
class EventQueue {
 public:
  explicit EventQueue(ManualClock& clock) : clock_(clock) {}
  Instant Now() const { return clock_.Now(); }
  void In(Duration delay, std::function<void()> event) {
    events_.emplace(std::pair(clock_.Now() + delay, added_++), std::move(event));
  }
  Instant Next() const { return events_.empty() ? kNever : events_.begin()->first.first; }
  void RunDue() {
    while (Next() <= clock_.Now()) {
      auto event = std::move(events_.begin()->second);
      events_.erase(events_.begin());
      event();
    }
  }
  void Clear() { events_.clear(); }

 private:
  ManualClock& clock_;
  std::map<std::pair<Instant, uint64_t>, std::function<void()>> events_;
  uint64_t added_ = 0;
};

}  // namespace caip::harness
