#pragma once
// The limits of a run in wall-clock time (`limits` of a scenario).

#include <optional>
#include <string>

#include "base/clock.h"
#include "harness/events/event.h"
#include "harness/scenario/scenario.h"

namespace caip::scenario {

/// The longest time that a job may stay PREPARING. The host needs this time to install packages, so
/// it does not count for the limits of the trainer.
inline constexpr Duration kPreparingMax = std::chrono::minutes(15);

/// Follows a run and says when it exceeds a limit. For one thread.
class RunLimits {
 public:
  RunLimits(const harness::Limits& limits, MonotonicTime begin);

  void Take(const harness::Event& event, MonotonicTime now);
  /// The limit that the run exceeds; "" none.
  std::string Exceeded(MonotonicTime now) const;
  /// The time since the trainer's last progress; 0 while the job prepares.
  Duration WithoutProgress(MonotonicTime now) const;

 private:
  const harness::Limits& limits_;
  MonotonicTime begin_;     // moved by the time that the job prepared
  MonotonicTime progress_;  // the last one
  std::optional<MonotonicTime> preparing_;
};

}  // namespace caip::scenario
