#pragma once
// What a connection is at, for those who must choose one to end. Private to src/http.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace caip::http {

/// Written by the connection's thread, read by any.
class Activity {
 public:
  enum class State {
    kFresh,    // has not sent a whole request yet
    kIdle,     // between two requests
    kReading,  // a handler waits for the request's body
    kWorking,  // a handler works, or the answer goes out
    kRelaying  // bytes pass through to another host
  };
  using Time = std::chrono::steady_clock::time_point;

  Activity() : since_(std::chrono::steady_clock::now()) {}
  State state() const { return state_; }
  void Enter(State state) {
    since_ = std::chrono::steady_clock::now();
    body_bytes_ = 0;
    state_ = state;
  }
  void BodyCame(uint64_t bytes) {
    body_bytes_.store(body_bytes_.load(std::memory_order_relaxed) + bytes,
                      std::memory_order_relaxed);
  }
  /// True while a request is being answered: such a connection may end its work when we stop.
  bool busy() const { return state_ == State::kReading || state_ == State::kWorking; }

  /// How little the connection would be missed, in seconds of idleness; nullopt: it is at work.
  /// One that never sent a whole request counts as idle for a while longer than it was, and a body
  /// that comes in drops counts as none.
  std::optional<double> Idleness(Time now) const;

 private:
  std::atomic<State> state_{State::kFresh};
  std::atomic<Time> since_;
  std::atomic<uint64_t> body_bytes_{0};
};

}  // namespace caip::http
