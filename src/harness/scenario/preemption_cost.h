#pragma once
// What the loss of machines costs a training: work that is done twice, and time.

#include <cstdint>
#include <optional>
#include <string>

#include "base/json.h"
#include "harness/expectations/expectation.h"

namespace caip::harness {

struct PreemptionCost {
  int64_t preemptions = 0;   // machines that were taken away
  int64_t job_restarts = 0;  // of the whole job
  std::string replica = {};  // whose steps and time are counted; "": none reported steps
  bool without_age = false;  // machines age by steps of the first replica, which reported none
  int64_t steps = 0;         // different ones
  int64_t steps_again = 0;   // reports of steps that had been reported before
  Duration again{0};         // the time of those
  Duration waited{0};        // without a machine
  Duration lost() const { return again + waited; }
};

/// Counts the steps of the first replica or, if it reports none, of the one with the most.
/// `step_time`: what a step stands for; nullopt: the time that it took.
PreemptionCost MeasurePreemptions(const Evidence& run, std::optional<Duration> step_time);

/// "3 preemptions, 3 job restarts; 40 steps of master-0 and 12 repetitions; 12m 00s lost (...)".
std::string Describe(const PreemptionCost& cost);
Json ToJson(const PreemptionCost& cost);

}  // namespace caip::harness
