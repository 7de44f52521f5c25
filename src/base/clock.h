#pragma once
// The only source of the emulated service's time. No other code reads the system's clocks; real
// elapsed time is measured with Stopwatch.

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace caip {

using Duration = std::chrono::nanoseconds;
using Instant = std::chrono::sys_time<Duration>;
inline constexpr Instant kNever = Instant::max();

/// The time of the emulated service. Any thread may read it. The engine's thread waits.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Instant Now() const = 0;
  /// Returns at `deadline`, or sooner if Interrupt() is called (even if it was called before).
  virtual void WaitUntil(Instant deadline) = 0;
  virtual void Interrupt() = 0;
  /// While the clock is held, time runs at the pace of real time, because a living replica must
  /// never see time jump.
  virtual void Hold() {}
  virtual void Release() {}
  /// Lets no time before `earliest` be shown from now on. An emulated clock that was ahead of the
  /// system's loses its lead when its process ends, but times in stores stay.
  virtual void AdvanceTo(Instant /*earliest*/) {}
};

/// The system's time.
class SystemClock : public Clock {
 public:
  Instant Now() const override;
  void WaitUntil(Instant deadline) override;
  void Interrupt() override;

 protected:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool interrupted_ = false;
};

/// A clock that stands still until a thread waits. Then it leaps to the deadline. For tests and
/// simulation.
class VirtualClock final : public Clock {
 public:
  explicit VirtualClock(Instant start) : now_(start) {}
  Instant Now() const override;
  void WaitUntil(Instant deadline) override;
  void Interrupt() override;
  void Advance(Duration by);
  void AdvanceTo(Instant earliest) override;

 private:
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  Instant now_;
  bool interrupted_ = false;
};

/// A clock that runs at the pace of real time while it is held. Otherwise it leaps to each
/// deadline: a queue of 20 minutes passes at once, and its timestamps are still 20 minutes apart.
class LeapClock final : public SystemClock {
 public:
  Instant Now() const override;
  void WaitUntil(Instant deadline) override;
  void Hold() override;
  void Release() override;
  void AdvanceTo(Instant earliest) override;

 private:
  mutable std::mutex offset_mutex_;
  Duration offset_{0};  // how far this clock is ahead of the system's
  int holders_ = 0;
};

// Elapsed real time: for deadlines, timeouts and measurements that an emulated clock must not
// stretch or leap over. Times that a user of the emulated service can see come from Clock.

/// A point on the host's monotonic clock. It has no meaning outside this process.
using MonotonicTime = std::chrono::steady_clock::time_point;

/// The host's monotonic clock now. This is the only function that reads it.
MonotonicTime MonotonicNow();

/// Measures the real time since it was made. Any thread may ask.
class Stopwatch {
 public:
  Duration Elapsed() const { return MonotonicNow() - started_; }

 private:
  MonotonicTime started_ = MonotonicNow();
};

}  // namespace caip
