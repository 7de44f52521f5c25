#include "harness/faults/fault_kind.h"

namespace caip::harness {
namespace {

Verdict Strike(const Fault&, Scene& scene) {
  (void)scene.world().CancelJob();
  return {};
}

}  // namespace

FaultKind CancelKind() {
  return {"cancel", "The user cancels the job.", {}, {}, "replica", "", Strike};
}

}  // namespace caip::harness
