#include "harness/scenario/preemption_cost.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "base/time_text.h"
#include "harness/faults/fault_injector.h"
#include "harness/scenario/job_kind.h"

namespace caip::harness {
namespace {

// The replica by whose steps machines age; the one with the most steps if that one reports none.
std::string TrainingReplicaOf(const Evidence& run) {
  std::map<std::string, int64_t> reports;
  for (const Event& event : run.events) {
    if (event.Is<StepEvent>()) ++reports[event.replica];
  }
  for (const auto& [replica, count] : reports) {
    if (IsFirstReplica(replica)) return replica;
  }
  const auto most =
      std::ranges::max_element(reports, {}, [](const auto& entry) { return entry.second; });
  return most == reports.end() ? "" : most->first;
}

/// Follows one replica through its boots.
class TrainingClock {
 public:
  TrainingClock(std::optional<Duration> step_time, PreemptionCost& cost)
      : step_time_(step_time), cost_(cost) {}

  void Take(const Event& event) {
    if (event.Is<LiveEvent>()) {
      if (ended_) cost_.waited += event.time - *ended_;
      ended_.reset();
      last_ = event.time;
    }
    if (event.Is<ExitEvent>()) ended_ = event.time;
    const auto* step = event.As<StepEvent>();
    if (!step) return;
    if (!done_.insert(step->step).second) {
      ++cost_.steps_again;
      cost_.again += step_time_.value_or(event.time - last_);
    }
    cost_.steps = static_cast<int64_t>(done_.size());
    last_ = event.time;
  }

 private:
  std::optional<Duration> step_time_;
  PreemptionCost& cost_;
  std::set<int64_t> done_;
  Instant last_{};
  std::optional<Instant> ended_;
};

std::string Counted(int64_t count, const std::string& one, const std::string& many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

}  // namespace

PreemptionCost MeasurePreemptions(const Evidence& run, std::optional<Duration> step_time) {
  PreemptionCost cost;
  TrainingClock clock(step_time, cost);
  const std::string replica = cost.replica = TrainingReplicaOf(run);
  cost.without_age = step_time && !IsFirstReplica(replica.substr(0, replica.find('/')));
  int64_t attempts = 0;
  for (const Event& event : run.events) {
    const auto* fault = event.As<FaultEvent>();
    if (fault && fault->fault == kLifetimeOver) ++cost.preemptions;
    const auto* entered = event.As<StateEvent>();
    if (entered && entered->state == "PREPARING") ++attempts;
    if (event.replica == replica) clock.Take(event);
  }
  cost.job_restarts = std::max<int64_t>(0, attempts - 1);
  return cost;
}

std::string Describe(const PreemptionCost& cost) {
  const auto whole = [](Duration time) {
    return HumanDuration(std::chrono::round<std::chrono::seconds>(time));
  };
  const std::string whose = cost.replica.empty() ? "" : " of " + cost.replica;
  return Counted(cost.preemptions, "preemption", "preemptions") + ", " +
         Counted(cost.job_restarts, "job restart", "job restarts") + "; " +
         Counted(cost.steps, "step", "steps") + whose + " and " +
         Counted(cost.steps_again, "repetition", "repetitions") + "; " + whole(cost.lost()) +
         " lost (" + whole(cost.again) + " of repeated steps, " + whole(cost.waited) +
         " without a machine)" +
         (cost.without_age ? "; no machine aged, because the first replica reported no steps" : "");
}

Json ToJson(const PreemptionCost& cost) {
  const auto seconds = [](Duration time) {
    return std::chrono::duration<double>(std::chrono::round<std::chrono::milliseconds>(time))
        .count();
  };
  return {{"preemptions", cost.preemptions},
          {"job_restarts", cost.job_restarts},
          {"replica", cost.replica},
          {"steps", cost.steps},
          {"steps_again", cost.steps_again},
          {"seconds_of_steps_again", seconds(cost.again)},
          {"seconds_without_machine", seconds(cost.waited)}};
}

}  // namespace caip::harness
