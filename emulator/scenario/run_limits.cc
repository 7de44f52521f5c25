#include "emulator/scenario/run_limits.h"

#include "base/time_text.h"

namespace caip::scenario {

RunLimits::RunLimits(const harness::Limits& limits, MonotonicTime begin)
    : limits_(limits), begin_(begin), progress_(begin) {}

void RunLimits::Take(const harness::Event& event, MonotonicTime now) {
  const auto* entered = event.As<harness::StateEvent>();
  if (entered && entered->state == "PREPARING") {
    if (!preparing_) preparing_ = now;
  } else if (entered && preparing_) {
    begin_ += now - *preparing_;
    preparing_.reset();
  }
  if (harness::IsProgress(event)) progress_ = now;
}

Duration RunLimits::WithoutProgress(MonotonicTime now) const {
  return preparing_ ? Duration(0) : std::chrono::duration_cast<Duration>(now - progress_);
}

std::string RunLimits::Exceeded(MonotonicTime now) const {
  if (preparing_) {
    if (now - *preparing_ <= kPreparingMax) return "";
    return "the job was PREPARING for more than " + HumanDuration(kPreparingMax);
  }
  if (now - begin_ > limits_.wall) {
    return "limits.wall: the job did not end within " + HumanDuration(limits_.wall);
  }
  if (WithoutProgress(now) > limits_.no_progress) {
    return "limits.no_progress: no step, no change in storage, no boot for " +
           HumanDuration(limits_.no_progress);
  }
  return "";
}

}  // namespace caip::scenario
