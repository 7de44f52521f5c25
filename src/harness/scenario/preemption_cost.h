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
  int64_t steps = 0;         // different ones
  int64_t steps_again = 0;   // reports of steps that had been reported before
  Duration again{0};         // the time of those
  Duration waited{0};        // without a machine
  Duration lost() const { return again + waited; }
};

/// Counts the steps of the replica that reports most of them. `step_time`: what a step stands for;
/// nullopt: the time that it took.
PreemptionCost MeasurePreemptions(const Evidence& run, std::optional<Duration> step_time);

/// "preempted 3 times, 3 job restarts: 12 of 40 steps done twice, 12m 00s lost (...)".
std::string Describe(const PreemptionCost& cost);
Json ToJson(const PreemptionCost& cost);

}  // namespace caip::harness
