#include "harness/faults/fault_kind.h"

namespace caip::harness {
namespace {

// The one who met it goes on: it has been asked to end, and has its time.
Verdict StrikeMaintenance(const Fault& fault, Scene& scene) {
  (void)scene.world().LoseVm(fault.replica, engine::VmLoss::kMaintenance);
  return {};
}

}  // namespace

FaultKind MaintenanceKind() {
  return {"maintenance",
          "SIGTERM, then the grace (limits.grace), then SIGKILL; the next machine has a new disk.",
          {"replica"},
          {"replica"},
          "replica",
          "",
          StrikeMaintenance};
}

}  // namespace caip::harness
