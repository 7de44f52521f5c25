#include "harness/faults/fault_kind.h"

namespace caip::harness {
namespace {

Verdict StrikeClockStep(const Fault& fault, Scene& scene) {
  (void)scene.world().StepClock(fault.replica, fault.delay);
  return {};
}

}  // namespace

FaultKind ClockStepKind() {
  return {"clock_step",
          "The clock that the replica sees steps forward or back (`by: 1h`, `by: -30s`).",
          {"replica", "by"},
          {"replica", "by"},
          "replica",
          "libfaketime",
          StrikeClockStep};
}

}  // namespace caip::harness
