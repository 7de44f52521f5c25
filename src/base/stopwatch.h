#pragma once
// Elapsed real time: for deadlines, timeouts and measurements that an emulated clock must not
// stretch or leap over. Times that a user of the emulated service can see come from Clock.

#include <chrono>

#include "base/clock.h"

namespace caip {

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
