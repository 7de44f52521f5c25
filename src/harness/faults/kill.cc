#include "harness/faults/fault_kind.h"

namespace caip::harness {
namespace {

Verdict StrikeKill(const Fault& fault, Scene& scene) {
  if (!scene.world().LoseVm(fault.replica, engine::VmLoss::kKill).ok()) return {};
  scene.WaitForEnd(fault.replica);
  return {};
}

}  // namespace

FaultKind KillKind() {
  return {"kill",
          "The replica's machine goes away without warning; the next one has a new disk.",
          {"replica", "down_until"},
          {"replica"},
          "replica",
          "",
          StrikeKill};
}

}  // namespace caip::harness
