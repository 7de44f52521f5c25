#pragma once
// The activity of a connection. The server uses it to choose which connection to close at the
// limit. Private to src/http.

#include <atomic>
#include <compare>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/clock.h"

namespace caip::http {

/// Written by the connection's thread, except Evict. Read by any thread.
class Activity {
 public:
  enum class State {
    kFresh,     // has not sent a complete request yet
    kIdle,      // between two requests
    kHead,      // bytes of a request have come and are being parsed
    kReading,   // a handler waits for the request's body
    kWorking,   // a handler runs, or the response is being sent
    kRelaying,  // forwards bytes to another host
    kEvicted    // closed for a new connection before its next request was complete
  };
  using Time = MonotonicTime;

  Activity() : since_(MonotonicNow()) {}
  State state() const { return state_; }
  void Enter(State state) {
    since_ = MonotonicNow();
    body_bytes_ = 0;
    received_ = kUnknown;
    state_ = state;
  }
  void CountBodyBytes(uint64_t bytes) {
    body_bytes_.store(body_bytes_.load(std::memory_order_relaxed) + bytes,
                      std::memory_order_relaxed);
  }
  /// True while a request is being answered. Such a connection may finish when the server stops.
  bool busy() const { return state_ == State::kReading || state_ == State::kWorking; }

  /// Bytes of a request have been received. The server does not evict the connection until
  /// AwaitMore.
  void BeginHead() { LeaveWaiting(State::kHead); }
  /// The header is not complete. `received`: how many bytes the connection has taken from its
  /// socket until now, if it knows.
  void AwaitMore(bool has_served, std::optional<uint64_t> received) {
    received_ = received.value_or(kUnknown);
    Leave(State::kHead, has_served ? State::kIdle : State::kFresh);
  }
  /// True if bytes have come since the connection began to wait, of `all` that came to its socket.
  /// It may have taken them, but not have called BeginHead yet. Any thread.
  bool HasMoreCome(uint64_t all) const { return all > received_; }
  /// While it waits, all that it still has to send are refusals. Its further bytes do not protect
  /// it then.
  void SetRefusing(bool is_refusing) { is_refusing_ = is_refusing; }
  bool is_refusing() const { return is_refusing_; }
  /// A header is complete. False if the server has evicted the connection.
  bool BeginRequest() {
    const bool begun = Leave(State::kHead, State::kWorking) || LeaveWaiting(State::kWorking);
    if (begun) Enter(State::kWorking);
    return begun;
  }
  /// The server closes the connection for a new one. False if it has become busy: a body that began
  /// since the server looked does not arrive slowly. Any thread.
  bool Evict(Time now) {
    if (state_ == State::kReading) return IdlenessAt(now).has_value();
    return LeaveWaiting(State::kEvicted);
  }
  bool evicted() const { return state_ == State::kEvicted; }

  /// How idle a connection is. At the limit, the server closes the connection with the greatest.
  struct Idleness {
    bool has_served;  // the first request may be on its way, so one without is closed last
    double seconds;
    auto operator<=>(const Idleness&) const = default;
  };

  /// nullopt: the connection is busy. One whose body arrives very slowly is not.
  std::optional<Idleness> IdlenessAt(Time now) const;

 private:
  // Changes the state in one step if the connection waits for a request.
  bool LeaveWaiting(State next) { return Leave(State::kFresh, next) || Leave(State::kIdle, next); }
  bool Leave(State present, State next) { return state_.compare_exchange_strong(present, next); }

  static constexpr uint64_t kUnknown = std::numeric_limits<uint64_t>::max();
  static constexpr double kBodyPatience = 10;    // seconds until the speed of a body matters
  static constexpr double kBodyBytesMin = 1024;  // per second

  std::atomic<State> state_{State::kFresh};
  std::atomic<Time> since_;
  std::atomic<uint64_t> body_bytes_{0};
  std::atomic<bool> is_refusing_{false};
  std::atomic<uint64_t> received_{kUnknown};  // known only while it waits for a header
};

inline std::optional<Activity::Idleness> Activity::IdlenessAt(Time now) const {
  const double seconds = std::chrono::duration<double>(now - since_.load()).count();
  switch (state_) {
    case State::kFresh:
      return Idleness{false, seconds};
    case State::kIdle:
      return Idleness{true, seconds};
    case State::kReading:
      if (seconds < kBodyPatience) return std::nullopt;
      if (static_cast<double>(body_bytes_.load()) > seconds * kBodyBytesMin) return std::nullopt;
      return Idleness{true, seconds};
    case State::kHead:
    case State::kWorking:
    case State::kRelaying:
    case State::kEvicted:
      break;
  }
  return std::nullopt;
}

}  // namespace caip::http
