#include "harness/faults/fault_kind.h"

namespace caip::harness {
namespace {

Verdict StrikeCrash(const Fault& fault, Scene& scene) {
  if (!scene.world().LoseVm(fault.replica, engine::VmLoss::kCrash).ok()) return {};
  scene.WaitForEnd(fault.replica);
  return {};
}

}  // namespace

FaultKind CrashKind() {
  return {"crash",
          "The replica dies of a signal; its machine and its disk stay, and it starts again.",
          {"replica", "down_until"},
          {"replica"},
          "replica",
          "",
          StrikeCrash};
}

}  // namespace caip::harness
