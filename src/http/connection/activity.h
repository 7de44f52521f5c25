#pragma once
// The activity of a connection. The server uses it to choose which connection to close at the
// limit. Private to src/http.

#include <atomic>
#include <cstdint>
#include <optional>

#include "base/clock.h"

namespace caip::http {

/// Written by the connection's thread, read by any thread.
class Activity {
 public:
  enum class State {
    kFresh,    // has not sent a complete request yet
    kIdle,     // between two requests
    kReading,  // a handler waits for the request's body
    kWorking,  // a handler runs, or the response is being sent
    kRelaying  // forwards bytes to another host
  };
  using Time = MonotonicTime;

  Activity() : since_(MonotonicNow()) {}
  State state() const { return state_; }
  void Enter(State state) {
    since_ = MonotonicNow();
    body_bytes_ = 0;
    state_ = state;
  }
  void CountBodyBytes(uint64_t bytes) {
    body_bytes_.store(body_bytes_.load(std::memory_order_relaxed) + bytes,
                      std::memory_order_relaxed);
  }
  /// True while a request is being answered. Such a connection may finish when the server stops.
  bool busy() const { return state_ == State::kReading || state_ == State::kWorking; }

  /// The seconds for which the connection has been idle; nullopt: it is busy. A connection that
  /// never sent a complete request counts as idle for longer. One whose body arrives very slowly
  /// counts as idle.
  std::optional<double> Idleness(Time now) const;

 private:
  static constexpr double kFreshPenalty = 10;    // seconds
  static constexpr double kBodyPatience = 10;    // seconds until the speed of a body matters
  static constexpr double kBodyBytesMin = 1024;  // per second

  std::atomic<State> state_{State::kFresh};
  std::atomic<Time> since_;
  std::atomic<uint64_t> body_bytes_{0};
};

inline std::optional<double> Activity::Idleness(Time now) const {
  const double seconds = std::chrono::duration<double>(now - since_.load()).count();
  switch (state_) {
    case State::kFresh:
      return seconds + kFreshPenalty;
    case State::kIdle:
      return seconds;
    case State::kReading:
      if (seconds < kBodyPatience) return std::nullopt;
      if (static_cast<double>(body_bytes_.load()) > seconds * kBodyBytesMin) return std::nullopt;
      return seconds;
    case State::kWorking:
    case State::kRelaying:
      break;
  }
  return std::nullopt;
}

}  // namespace caip::http
