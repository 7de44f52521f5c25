#include "http/connection/activity.h"

namespace caip::http {
namespace {

constexpr double kFreshPenalty = 10;    // seconds
constexpr double kBodyPatience = 10;    // seconds until a body's speed is looked at
constexpr double kBodyBytesMin = 1024;  // a second: slower than any modem

}  // namespace

std::optional<double> Activity::Idleness(Time now) const {
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
