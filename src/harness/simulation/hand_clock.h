#pragma once
// Time as a simulation moves it, and what will happen in it.

#include <functional>
#include <map>
#include <utility>

#include "base/clock.h"

namespace caip::harness {

/// Time that moves when it is told to, and counts who holds it.
class HandClock final : public Clock {
 public:
  explicit HandClock(Instant start) : now_(start) {}
  Instant Now() const override { return now_; }
  void WaitUntil(Instant deadline) override { MoveTo(deadline); }
  void Interrupt() override {}
  void Hold() override { ++holders_; }
  void Release() override { --holders_; }
  void MoveTo(Instant instant) {
    if (instant > now_) now_ = instant;
  }
  int holders() const { return holders_; }

 private:
  Instant now_;
  int holders_ = 0;
};

/// What will happen in the world, by time and then by the order in which it was arranged.
class Agenda {
 public:
  explicit Agenda(HandClock& clock) : clock_(clock) {}
  Instant Now() const { return clock_.Now(); }
  void In(Duration delay, std::function<void()> what) {
    things_.emplace(std::pair(clock_.Now() + delay, added_++), std::move(what));
  }
  Instant Next() const { return things_.empty() ? kNever : things_.begin()->first.first; }
  void RunDue() {
    while (Next() <= clock_.Now()) {
      auto what = std::move(things_.begin()->second);
      things_.erase(things_.begin());
      what();
    }
  }
  void Clear() { things_.clear(); }

 private:
  HandClock& clock_;
  std::map<std::pair<Instant, uint64_t>, std::function<void()>> things_;
  uint64_t added_ = 0;
};

}  // namespace caip::harness
